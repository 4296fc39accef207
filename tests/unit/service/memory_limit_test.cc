#include "server/app/memory_limit.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"

namespace embd::app {
namespace {

// A root of files that look like a machine's control groups.
class MemoryLimitTest : public ::testing::Test {
 protected:
  MemoryLimitTest() {
    std::string name = (std::filesystem::temp_directory_path() / "embd-cgroup-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~MemoryLimitTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_.string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  std::int64_t Limit() const { return MemoryLimit(root_.string()); }

  std::filesystem::path root_;
};

TEST_F(MemoryLimitTest, WithoutGroupsIsTheMachines) { EXPECT_GT(Limit(), 1 << 20); }

TEST_F(MemoryLimitTest, TopGroupOfAContainerCounts) {
  Write("/sys/fs/cgroup/memory.max", "1048576");

  EXPECT_EQ(Limit(), 1 << 20);
}

TEST_F(MemoryLimitTest, OwnGroupCounts) {
  Write("/proc/self/cgroup", "0::/system.slice/embd.service");
  Write("/sys/fs/cgroup/system.slice/embd.service/memory.max", "2097152");

  EXPECT_EQ(Limit(), 2 << 20);
}

TEST_F(MemoryLimitTest, SmallestOfGroupAndParentsCounts) {
  Write("/proc/self/cgroup", "0::/a/b/c");
  Write("/sys/fs/cgroup/a/b/c/memory.max", "max");
  Write("/sys/fs/cgroup/a/b/memory.max", "3145728");
  Write("/sys/fs/cgroup/a/memory.max", "4194304");

  EXPECT_EQ(Limit(), 3 << 20);
}

TEST_F(MemoryLimitTest, OtherGroupsDoNotCount) {
  Write("/proc/self/cgroup", "0::/a");
  Write("/sys/fs/cgroup/b/memory.max", "1048576");

  EXPECT_EQ(Limit(), MemoryLimit("/nonexistent"));
}

TEST_F(MemoryLimitTest, MemoryControllerOfVersionOneCounts) {
  Write("/proc/self/cgroup", "12:cpu,cpuacct:/x\n5:memory:/user/embd\n0::/");
  Write("/sys/fs/cgroup/memory/user/embd/memory.limit_in_bytes", "5242880");
  Write("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1048576");

  EXPECT_EQ(Limit(), 5 << 20);
}

TEST_F(MemoryLimitTest, NumberBeyondAnyMemoryMeansNoLimit) {
  Write("/proc/self/cgroup", "5:memory:/");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");

  EXPECT_EQ(Limit(), MemoryLimit("/nonexistent"));
}

TEST(TableMemoryLimit, LeavesAnEighthForTheProgramAndNoMoreThan128MiB) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;

  EXPECT_EQ(TableMemoryLimit(256 * kMiB), 224 * kMiB);
  EXPECT_EQ(TableMemoryLimit(1024 * kMiB), 896 * kMiB);
  EXPECT_EQ(TableMemoryLimit(64 * 1024 * kMiB), (64 * 1024 - 128) * kMiB);
}

}  // namespace
}  // namespace embd::app

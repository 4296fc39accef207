#include "server/app/file_watch.h"

#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "tests/support/eventually.h"

namespace embd::app {
namespace {

using ::embd::testing::Eventually;

class FileWatchTest : public ::testing::Test {
 protected:
  FileWatchTest() {
    std::string name = (std::filesystem::temp_directory_path() / "embd-watch-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    Write("file", "one");
  }
  ~FileWatchTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

  // Whether `change` is told of.
  template <typename Change>
  bool IsSeen(const std::string& path, Change change) {
    std::atomic<int> count = 0;
    const FileWatch watch({folder_ / path}, absl::Milliseconds(1), [&count] { return ++count > 0; });
    change();
    return Eventually([&count] { return count > 0; });
  }

  std::filesystem::path folder_;
};

TEST_F(FileWatchTest, SeesAFileThatIsWrittenAnew) {
  EXPECT_TRUE(IsSeen("file", [this] { Write("file", "other"); }));
}

TEST_F(FileWatchTest, SeesAFileThatIsPutInPlaceOfAnother) {
  Write("new", "two");
  EXPECT_TRUE(IsSeen("file", [this] { std::filesystem::rename(folder_ / "new", folder_ / "file"); }));
}

TEST_F(FileWatchTest, SeesALinkOfAFolderThatPointsElsewhere) {
  for (const char* const name : {"a", "b"}) {
    std::filesystem::create_directory(folder_ / name);
    Write(std::string(name) + "/file", "same");
  }
  std::filesystem::create_directory_symlink("a", folder_ / "current");
  EXPECT_TRUE(IsSeen("current/file", [this] {
    std::filesystem::create_directory_symlink("b", folder_ / "next");
    std::filesystem::rename(folder_ / "next", folder_ / "current");
  }));
}

TEST_F(FileWatchTest, SeesAFileThatComesAndOneThatGoes) {
  EXPECT_TRUE(IsSeen("later", [this] { Write("later", "here"); }));
  EXPECT_TRUE(IsSeen("file", [this] { std::filesystem::remove(folder_ / "file"); }));
}

TEST_F(FileWatchTest, SeesPermissionsThatChange) {
  EXPECT_TRUE(IsSeen("file", [this] { chmod((folder_ / "file").c_str(), 0400); }));
}

TEST_F(FileWatchTest, TellsOfAChangeOnce) {
  std::atomic<int> first = 0;
  std::atomic<int> second = 0;
  const FileWatch watch({folder_ / "file"}, absl::Milliseconds(1), [&first] { return ++first > 0; });
  Write("file", "other");
  ASSERT_TRUE(Eventually([&first] { return first > 0; }));
  Write("beside", "one");
  const FileWatch other({folder_ / "beside"}, absl::Milliseconds(1), [&second] { return ++second > 0; });
  for (int i = 0; i < 10; ++i) {  // each takes several looks of both
    Write("beside", std::string(static_cast<std::size_t>(i + 5), 'x'));
    const int before = second;
    ASSERT_TRUE(Eventually([&second, before] { return second > before; }));
  }

  EXPECT_EQ(first, 1);
}

TEST_F(FileWatchTest, TellsAgainOfAChangeThatWasNotTakenUpUntilItIs) {
  std::atomic<int> tries = 0;
  std::atomic<int> other_changes = 0;
  const FileWatch watch(
      {folder_ / "file"}, absl::Milliseconds(1), [&tries] { return ++tries == 3; }, absl::Milliseconds(2));
  Write("file", "other");
  ASSERT_TRUE(Eventually([&tries] { return tries == 3; }));
  Write("beside", "one");
  const FileWatch other(
      {folder_ / "beside"}, absl::Milliseconds(1), [&other_changes] { return ++other_changes == 10; },
      absl::Milliseconds(2));
  Write("beside", "other");
  ASSERT_TRUE(Eventually([&other_changes] { return other_changes == 10; }));

  EXPECT_EQ(tries, 3);
}

}  // namespace
}  // namespace embd::app

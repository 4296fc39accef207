#include "server/core/regions/shared_region.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::core {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr std::size_t kPage = 4096;

/// A file in memory, of ones, as another process has it.
class SharedFile {
 public:
  explicit SharedFile(std::size_t size) : descriptor_(memfd_create("shared", MFD_CLOEXEC)) {
    const std::vector<std::byte> bytes(size, std::byte{1});
    if (write(descriptor_, bytes.data(), size) != static_cast<ssize_t>(size)) std::abort();
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() { close(descriptor_); }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  void Truncate(std::size_t size) const {
    if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) std::abort();
  }
  [[nodiscard]] std::vector<std::byte> Read(std::size_t offset, std::size_t size) const {
    std::vector<std::byte> bytes(size);
    if (pread(descriptor_, bytes.data(), size, static_cast<off_t>(offset)) != static_cast<ssize_t>(size)) std::abort();
    return bytes;
  }

 private:
  int descriptor_;
};

TEST(SharedRegion, ShowsTheFileUnchangedAndWhatIsWrittenShowsInTheFile) {
  const SharedFile file(3 * kPage);
  ASSERT_OK_AND_ASSIGN(const auto region, SharedRegion::Map(file.descriptor(), kPage, kPage + 100));

  ASSERT_EQ(region->bytes().size(), kPage + 100);
  EXPECT_THAT(region->bytes(), Each(std::byte{1}));
  std::fill(region->bytes().begin(), region->bytes().end(), std::byte{7});

  EXPECT_THAT(file.Read(0, kPage), Each(std::byte{1}));
  EXPECT_THAT(file.Read(kPage, kPage + 100), Each(std::byte{7}));
  EXPECT_THAT(file.Read(2 * kPage + 100, kPage - 100), Each(std::byte{1}));
  EXPECT_FALSE(region->damaged());
}

TEST(SharedRegion, MemoryOfAHoleIsTakenAtOnce) {
  const SharedFile file(0);
  file.Truncate(64 * kPage);
  ASSERT_OK_AND_ASSIGN(const auto region, SharedRegion::Map(file.descriptor(), 0, 64 * kPage));

  std::vector<unsigned char> resident(64);
  ASSERT_EQ(mincore(region->bytes().data(), region->bytes().size(), resident.data()), 0);

  EXPECT_THAT(resident, Each(1));
}

TEST(SharedRegion, WritesToLostPagesGoNowhereAndAreTold) {
  const SharedFile file(64 * kPage);
  ASSERT_OK_AND_ASSIGN(const auto region, SharedRegion::Map(file.descriptor(), 0, 64 * kPage));
  file.Truncate(2 * kPage);

  std::fill(region->bytes().begin(), region->bytes().end(), std::byte{9});

  EXPECT_THAT(file.Read(0, 2 * kPage), Each(std::byte{9}));
  file.Truncate(64 * kPage);
  EXPECT_THAT(file.Read(2 * kPage, 62 * kPage), Each(std::byte{0}));
  EXPECT_TRUE(region->damaged());
}

TEST(SharedRegion, DamageShowsBeforeALostPageIsWrittenAndStays) {
  const SharedFile file(2 * kPage);
  ASSERT_OK_AND_ASSIGN(const auto region, SharedRegion::Map(file.descriptor(), 0, 2 * kPage));

  file.Truncate(2 * kPage - 1);  // within a page: no signal would ever come
  EXPECT_TRUE(region->damaged());
  file.Truncate(2 * kPage);
  EXPECT_TRUE(region->damaged());
}

TEST(SharedRegion, FileThatIsTooShortIsAnError) {
  const SharedFile file(kPage);

  EXPECT_THAT(SharedRegion::Map(file.descriptor(), 0, 3 * kPage),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cannot map 12288 bytes of the file")),
                    ReasonIs("CANNOT_MAP")));
}

TEST(SharedRegion, UnmappableDescriptorIsAnError) {
  EXPECT_THAT(SharedRegion::Map(-1, 0, kPage), ReasonIs("CANNOT_MAP"));
}

TEST(SharedRegion, AreLimitedInNumberAndGiveTheirPlaceBack) {
  const SharedFile file(kPage);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<SharedRegion>> regions;
    for (std::size_t i = 0; i < SharedRegion::kMaxRegions; ++i) {
      ASSERT_OK_AND_ASSIGN(auto region, SharedRegion::Map(file.descriptor(), 0, kPage));
      regions.push_back(std::move(region));
    }
    EXPECT_THAT(
        SharedRegion::Map(file.descriptor(), 0, kPage),
        AllOf(StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("256 regions")), ReasonIs("TOO_MANY_REGIONS")));
  }
}

}  // namespace
}  // namespace embd::core

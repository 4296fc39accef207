#include "server/service/shared_regions.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::service {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

v1::Region Region(const std::string& name, const std::string& path, std::int64_t offset, std::int64_t byte_size) {
  v1::Region region;
  region.set_name(name);
  region.set_path(path);
  region.set_offset(offset);
  region.set_byte_size(byte_size);
  return region;
}

class SharedRegionsTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string Path(const std::string& name) const { return folder_.Path(name); }
  [[nodiscard]] std::string Prefix() const { return Path("embd-"); }

  // A file of that many zero pages.
  [[nodiscard]] std::string File(const std::string& name, std::int64_t pages) const {
    return folder_.Write(name, std::string(static_cast<std::size_t>(pages * kPage), '\0'));
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const v1::Region& region : regions_.All()) names.push_back(region.name());
    return names;
  }

  const formats::ScratchFolder folder_;
  SharedRegions regions_{{.prefix = folder_.Path("embd-"), .max_regions = 3, .max_bytes = 100 * kPage}};
};

TEST_F(SharedRegionsTest, AreFoundByNameAndListedInOrderUntilUnregistered) {
  const std::string path = File("embd-1", 4);
  ASSERT_THAT(regions_.Register(Region("b", path, 0, kPage)), IsOk());
  ASSERT_THAT(regions_.Register(Region("A.b_c-9", path, 2 * kPage, 2 * kPage)), IsOk());

  EXPECT_THAT(Names(), ElementsAre("A.b_c-9", "b"));
  EXPECT_EQ((*regions_.Find("A.b_c-9"))->bytes().size(), 2u * kPage);
  EXPECT_THAT(regions_.Unregister("b"), IsOk());
  EXPECT_THAT(Names(), ElementsAre("A.b_c-9"));
  EXPECT_THAT(regions_.Find("b"),
              AllOf(StatusIs(absl::StatusCode::kNotFound, "there is no region \"b\"; there is \"A.b_c-9\""),
                    ReasonIs("REGION_NOT_FOUND")));
  EXPECT_THAT(regions_.Unregister("b"), ReasonIs("REGION_NOT_FOUND"));
}

TEST_F(SharedRegionsTest, NameThatIsTakenIsRefusedAndTheFirstStays) {
  ASSERT_THAT(regions_.Register(Region("r", File("embd-1", 1), 0, kPage)), IsOk());

  EXPECT_THAT(regions_.Register(Region("r", File("embd-2", 1), 0, kPage)),
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("there is a region \"r\" already")),
                    ReasonIs("REGION_EXISTS")));
  EXPECT_EQ(regions_.All().at(0).path(), Path("embd-1"));
}

TEST_F(SharedRegionsTest, NameOfAFailedRegistrationIsFree) {
  EXPECT_THAT(regions_.Register(Region("r", Path("embd-none"), 0, kPage)), ReasonIs("CANNOT_MAP"));

  EXPECT_THAT(regions_.Register(Region("r", File("embd-1", 1), 0, kPage)), IsOk());
}

TEST_F(SharedRegionsTest, NamesThatAreNoneAreRefused) {
  const std::string path = File("embd-1", 1);
  for (const std::string& name :
       {std::string(), std::string(".a"), std::string("-a"), std::string("a/b"), std::string("a b"), std::string("ä"),
        std::string(129, 'a'), std::string("a\0b", 3)}) {
    EXPECT_THAT(regions_.Register(Region(name, path, 0, kPage)),
                AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("region.name must be")),
                      ReasonIs("INVALID_OPTION")))
        << name;
  }
  EXPECT_THAT(regions_.Register(Region(std::string(128, 'a'), path, 0, kPage)), IsOk());
}

TEST_F(SharedRegionsTest, ExtentsOutsideTheirRangesAreRefused) {
  const std::string path = File("embd-1", 4);
  for (const std::int64_t offset : {std::int64_t{-1}, -kPage, std::numeric_limits<std::int64_t>::min(), kPage + 64}) {
    EXPECT_THAT(regions_.Register(Region("r", path, offset, kPage)),
                AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a multiple of 4096, got")),
                      ReasonIs("INVALID_OPTION")))
        << offset;
  }
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_THAT(regions_.Register(Region("r", path, 0, size)),
                AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("region.byte_size must be at least 1")),
                      ReasonIs("INVALID_OPTION")))
        << size;
  }
  EXPECT_THAT(regions_.Register(Region("r", path, kPage, kMax)),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("exceed 2^63 - 1 together")),
                    ReasonIs("INVALID_OPTION")));
  EXPECT_THAT(regions_.Register(Region("r", path, kMax / kPage * kPage, kMax % kPage)), ReasonIs("CANNOT_MAP"));
}

TEST_F(SharedRegionsTest, FileThatIsShorterIsRefused) {
  EXPECT_THAT(
      regions_.Register(Region("r", File("embd-1", 2), kPage, kPage + 1)),
      AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 8192 bytes; the region would end at 8193")),
            ReasonIs("CANNOT_MAP")));
}

TEST_F(SharedRegionsTest, PathsOutsideThePrefixAreForbidden) {
  const std::string outside = File("other", 1);
  ASSERT_TRUE(std::filesystem::create_directory(Path("embd-folder")));
  for (const std::string& path :
       {std::string(), std::string("embd-1"), outside, Path("embd"), Path("embd-folder/../other"),
        Path("embd-folder/./x"), Path("embd-folder//x"), Path("embd-/../other"), Path("embd-folder/.."),
        Path("embd-1") + std::string("\0x", 2), std::string("/etc/passwd")}) {
    EXPECT_THAT(
        regions_.Register(Region("r", path, 0, kPage)),
        AllOf(StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("path \"")), ReasonIs("REGION_FORBIDDEN")))
        << path;
  }
}

TEST_F(SharedRegionsTest, WhatIsNoRegularFileIsRefused) {
  const std::string outside = File("other", 1);
  std::filesystem::create_symlink(outside, Path("embd-link"));
  std::filesystem::create_directory(Path("embd-folder"));
  std::filesystem::create_symlink(Path(""), Path("embd-folder/link"));
  std::filesystem::create_directory_symlink(Path(""), Path("embd-through"));
  ASSERT_EQ(mkfifo(Path("embd-fifo").c_str(), 0600), 0);
  for (const char* const name : {"embd-link", "embd-folder", "embd-folder/link", "embd-through/other", "embd-fifo",
                                 "embd-none", "embd-none/x"}) {
    EXPECT_THAT(regions_.Register(Region("r", Path(name), 0, kPage)),
                AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(name)), ReasonIs("CANNOT_MAP")))
        << name;
  }
}

TEST_F(SharedRegionsTest, DeviceIsRefused) {
  SharedRegions regions({.prefix = "/dev/", .max_regions = 1, .max_bytes = kPage});

  EXPECT_THAT(regions.Register(Region("r", "/dev/zero", 0, kPage)), ReasonIs("CANNOT_MAP"));
}

TEST_F(SharedRegionsTest, FolderBelowThePrefixIsAllowed) {
  std::filesystem::create_directory(Path("embd-folder"));

  EXPECT_THAT(regions_.Register(Region("r", File("embd-folder/file", 1), 0, kPage)), IsOk());
}

TEST_F(SharedRegionsTest, TheirNumberIsLimited) {
  const std::string path = File("embd-1", 1);
  for (const char* const name : {"a", "b", "c"}) ASSERT_THAT(regions_.Register(Region(name, path, 0, kPage)), IsOk());

  EXPECT_THAT(regions_.Register(Region("d", path, 0, kPage)),
              AllOf(StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("max_regions 3 regions")),
                    ReasonIs("TOO_MANY_REGIONS")));
  ASSERT_THAT(regions_.Unregister("a"), IsOk());
  EXPECT_THAT(regions_.Register(Region("d", path, 0, kPage)), IsOk());
}

TEST_F(SharedRegionsTest, TheirBytesAreLimitedTogether) {
  const std::string path = File("embd-1", 101);
  ASSERT_THAT(regions_.Register(Region("a", path, 0, 60 * kPage)), IsOk());

  EXPECT_THAT(regions_.Register(Region("b", path, 0, 40 * kPage + 1)),
              AllOf(StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("max_bytes 409600")),
                    ReasonIs("TOO_MANY_REGIONS")));
  EXPECT_THAT(regions_.Register(Region("b", path, 0, kMax)), ReasonIs("TOO_MANY_REGIONS"));
  EXPECT_THAT(regions_.Register(Region("b", path, 0, 40 * kPage)), IsOk());
}

TEST_F(SharedRegionsTest, UnregisteredRegionStaysMappedAndCountsWhileItIsHeld) {
  const std::string path = File("embd-1", 100);
  ASSERT_THAT(regions_.Register(Region("a", path, 0, 100 * kPage)), IsOk());
  ASSERT_OK_AND_ASSIGN(auto held, regions_.Find("a"));
  ASSERT_THAT(regions_.Unregister("a"), IsOk());
  EXPECT_THAT(Names(), IsEmpty());

  std::fill(held->bytes().begin(), held->bytes().end(), std::byte{5});
  EXPECT_THAT(regions_.Register(Region("b", path, 0, kPage)), ReasonIs("TOO_MANY_REGIONS"));
  held.reset();

  ASSERT_THAT(regions_.Register(Region("b", path, 99 * kPage, kPage)), IsOk());
  EXPECT_EQ((*regions_.Find("b"))->bytes().back(), std::byte{5});
}

TEST_F(SharedRegionsTest, OnlyOneOfManyGetsTheName) {
  const std::string path = File("embd-1", 1);
  std::atomic<int> registered = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const absl::Status status = regions_.Register(Region("r", path, 0, kPage));
      if (status.ok()) ++registered;
      EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kFailedPrecondition) << status;
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(registered, 1);
}

TEST_F(SharedRegionsTest, AtMostTenNamesAreTold) {
  SharedRegions many({.prefix = Prefix(), .max_regions = 20, .max_bytes = 100 * kPage});
  const std::string path = File("embd-1", 1);
  for (int i = 10; i < 22; ++i) ASSERT_THAT(many.Register(Region(absl::StrCat("r", i), path, 0, kPage)), IsOk());

  EXPECT_THAT(many.Find("r"), StatusIs(absl::StatusCode::kNotFound,
                                       AllOf(HasSubstr("there are \"r10\", "), HasSubstr("\"r19\" and 2 more"))));
}

}  // namespace
}  // namespace embd::service

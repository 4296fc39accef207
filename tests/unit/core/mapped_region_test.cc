#include "server/core/table/mapped_region.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/table/table.h"
#include "tests/support/status_matchers.h"

namespace embd::core {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr std::size_t kPage = 4096;

std::byte ByteAt(std::size_t index) { return static_cast<std::byte>(index * 7 % 251 + 1); }

/// A file in memory, of bytes that are never 0.
class ScratchFile {
 public:
  explicit ScratchFile(std::size_t size) : descriptor_(memfd_create("scratch", MFD_CLOEXEC)) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = ByteAt(i);
    if (write(descriptor_, bytes.data(), size) != static_cast<ssize_t>(size)) std::abort();
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { close(descriptor_); }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  void Truncate(std::size_t size) const {
    if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) std::abort();
  }

 private:
  int descriptor_;
};

TEST(MappedRegion, HoldsTheBytesFromAnyOffset) {
  const ScratchFile file(3 * kPage);
  for (const std::size_t offset : {std::size_t{0}, std::size_t{8}, kPage - 1, kPage, 2 * kPage + 100}) {
    SCOPED_TRACE(offset);

    ASSERT_OK_AND_ASSIGN(const MappedRegion region, MappedRegion::Map(file.descriptor(), offset, 3 * kPage - offset));

    ASSERT_EQ(region.bytes().size(), 3 * kPage - offset);
    EXPECT_EQ(region.bytes().front(), ByteAt(offset));
    EXPECT_EQ(region.bytes().back(), ByteAt(3 * kPage - 1));
    EXPECT_FALSE(region.damaged());
  }
}

TEST(MappedRegion, LostPagesReadAsZerosAndAreTold) {
  const ScratchFile file(64 * kPage);
  ASSERT_OK_AND_ASSIGN(const MappedRegion region, MappedRegion::Map(file.descriptor(), 100, 64 * kPage - 100));
  file.Truncate(2 * kPage);

  const std::vector<std::byte> seen(region.bytes().begin(), region.bytes().end());

  EXPECT_EQ(seen[0], ByteAt(100));
  EXPECT_EQ(seen[2 * kPage - 101], ByteAt(2 * kPage - 1));
  EXPECT_THAT(std::span(seen).subspan(2 * kPage - 100), Each(std::byte{0}));
  EXPECT_TRUE(region.damaged());
}

TEST(MappedRegion, DamageShowsBeforeALostPageIsReadAndStays) {
  const ScratchFile file(2 * kPage);
  ASSERT_OK_AND_ASSIGN(const MappedRegion region, MappedRegion::Map(file.descriptor(), 0, 2 * kPage));

  file.Truncate(2 * kPage - 1);  // within a page: no signal would ever come
  EXPECT_TRUE(region.damaged());
  file.Truncate(2 * kPage);
  EXPECT_TRUE(region.damaged());
}

TEST(MappedRegion, OneDamagedFileLeavesOthersAlone) {
  const ScratchFile lost(2 * kPage);
  const ScratchFile kept(2 * kPage);
  ASSERT_OK_AND_ASSIGN(const MappedRegion damaged, MappedRegion::Map(lost.descriptor(), 0, 2 * kPage));
  ASSERT_OK_AND_ASSIGN(const MappedRegion whole, MappedRegion::Map(kept.descriptor(), 0, 2 * kPage));
  lost.Truncate(0);

  EXPECT_EQ(damaged.bytes()[kPage], std::byte{0});
  EXPECT_EQ(whole.bytes()[kPage], ByteAt(kPage));
  EXPECT_TRUE(damaged.damaged());
  EXPECT_FALSE(whole.damaged());
}

TEST(MappedRegion, MovesWithItsBytes) {
  const ScratchFile file(kPage);
  ASSERT_OK_AND_ASSIGN(MappedRegion first, MappedRegion::Map(file.descriptor(), 0, kPage));
  const std::byte* const data = first.bytes().data();

  MappedRegion second = std::move(first);

  EXPECT_EQ(second.bytes().data(), data);
  file.Truncate(0);
  EXPECT_EQ(second.bytes()[10], std::byte{0});
  EXPECT_TRUE(second.damaged());
}

TEST(MappedRegion, AreLimitedInNumberAndGiveTheirPlaceBack) {
  const ScratchFile file(kPage);
  for (int round = 0; round < 2; ++round) {
    std::vector<MappedRegion> regions;
    for (std::size_t i = 0; i < MappedRegion::kMaxRegions; ++i) {
      ASSERT_OK_AND_ASSIGN(MappedRegion region, MappedRegion::Map(file.descriptor(), 0, kPage));
      regions.push_back(std::move(region));
    }
    EXPECT_THAT(MappedRegion::Map(file.descriptor(), 0, kPage),
                AllOf(StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 256 tables are mapped")),
                      ReasonIs("OUT_OF_MEMORY")));
  }
}

TEST(MappedRegion, UnmappableDescriptorIsAnError) {
  EXPECT_THAT(MappedRegion::Map(-1, 0, kPage),
              AllOf(StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("cannot map 4096 bytes of the file: ")),
                    ReasonIs("OUT_OF_MEMORY")));
}

TEST(MappedTable, ReadsAsAnOwnedOneDoes) {
  const ScratchFile file(kPage);
  ASSERT_OK_AND_ASSIGN(MappedRegion region, MappedRegion::Map(file.descriptor(), 16, 6 * 4));

  ASSERT_OK_AND_ASSIGN(const Table table, Table::Create(3, 2, ElementType::kFloat32, std::move(region)));

  EXPECT_TRUE(table.mapped());
  EXPECT_EQ(table.bytes().size(), 24u);
  EXPECT_EQ(*table.row(2), ByteAt(16 + 2 * 8));
  EXPECT_FALSE(table.damaged());
  file.Truncate(20);
  EXPECT_TRUE(table.damaged());
}

// Sanitizers bring handlers of their own, which end the process in another way.
#ifndef EMBD_SANITIZED

// Reads a page that is lost and that no region looks after.
void FaultElsewhere() {
  const ScratchFile file(kPage);
  const ScratchFile guarded(kPage);
  const auto region = MappedRegion::Map(guarded.descriptor(), 0, kPage);
  void* const foreign = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  file.Truncate(0);
  volatile const char* const bytes = static_cast<const char*>(foreign);
  std::exit(bytes[0] == 0 && region.ok() ? 0 : 1);
}

TEST(MappedRegionDeathTest, OtherFaultsEndTheProcessAsBefore) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";

  EXPECT_EXIT(FaultElsewhere(), ::testing::KilledBySignal(SIGBUS), "");
}

TEST(MappedRegionDeathTest, SentSignalEndsTheProcessAsBefore) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto map_and_send = [] {
    const ScratchFile file(kPage);
    const auto region = MappedRegion::Map(file.descriptor(), 0, kPage);
    raise(SIGBUS);
    std::exit(region.ok() ? 0 : 1);
  };

  EXPECT_EXIT(map_and_send(), ::testing::KilledBySignal(SIGBUS), "");
}

TEST(MappedRegionDeathTest, OtherFaultsReachTheHandlerThatWasThereBefore) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto fault_with_handler = [] {
    signal(SIGBUS, [](int) { _exit(7); });
    FaultElsewhere();
  };

  EXPECT_EXIT(fault_with_handler(), ::testing::ExitedWithCode(7), "");
}

#endif

}  // namespace
}  // namespace embd::core

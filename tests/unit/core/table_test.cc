#include "server/core/table/table.h"

#include <cstring>
#include <limits>

#include "gmock/gmock.h"
#include "server/core/tensor/checked_math.h"
#include "tests/support/status_matchers.h"

namespace embd::core {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(CheckedProduct, RefusesOverflowAndNegativeFactors) {
  EXPECT_EQ(CheckedProduct({}), 1);
  EXPECT_EQ(CheckedProduct({3, 4}), 12);
  EXPECT_EQ(CheckedProduct({kMax, 1}), kMax);
  EXPECT_EQ(CheckedProduct({kMax, kMax, 0}), 0);
  EXPECT_EQ(CheckedProduct({kMax, 2}), std::nullopt);
  EXPECT_EQ(CheckedProduct({std::int64_t{1} << 32, std::int64_t{1} << 31}), std::nullopt);
  EXPECT_EQ(CheckedProduct({-1, 0}), std::nullopt);
}

TEST(AlignedBuffer, IsAlignedAndWritableAtEverySize) {
  for (const std::size_t size : {1u, 63u, 64u, 4096u, (2u << 20) - 1, 2u << 20, (2u << 20) + 1, 5u << 20}) {
    SCOPED_TRACE(size);
    ASSERT_OK_AND_ASSIGN(AlignedBuffer buffer, AlignedBuffer::Allocate(size));

    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % AlignedBuffer::kAlignment, 0u);
    std::memset(buffer.data(), 0xA5, size);
    EXPECT_EQ(buffer.bytes().back(), std::byte{0xA5});
  }
}

TEST(AlignedBuffer, MoreThanTheAddressSpaceIsAnErrorNotACrash) {
  EXPECT_THAT(AlignedBuffer::Allocate(std::size_t{1} << 60),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("1152921504606846976 bytes")));
  EXPECT_THAT(AlignedBuffer::Allocate(std::numeric_limits<std::size_t>::max()),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("18446744073709551615 bytes")));
}

TEST(Table, RowsAreWhereTheyShouldBe) {
  ASSERT_OK_AND_ASSIGN(AlignedBuffer storage, AlignedBuffer::Allocate(3 * 2 * 4));
  const float values[] = {0, 1, 10, 11, 20, 21};
  std::memcpy(storage.data(), values, sizeof values);

  ASSERT_OK_AND_ASSIGN(const Table table, Table::Create(3, 2, ElementType::kFloat32, std::move(storage)));

  EXPECT_EQ(table.element_count(), 6);
  EXPECT_EQ(table.row_bytes(), 8u);
  float row[2];
  std::memcpy(row, table.row(2), sizeof row);
  EXPECT_EQ(row[0], 20.0f);
  EXPECT_EQ(row[1], 21.0f);
}

TEST(Table, RefusesShapesThatAreNone) {
  EXPECT_THAT(TableBytes(0, 4, ElementType::kFloat32),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("got 0 x 4")));
  EXPECT_THAT(TableBytes(4, -1, ElementType::kFloat32),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("got 4 x -1")));
  EXPECT_THAT(TableBytes(kMax, kMax, ElementType::kFloat32),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("exceeds 2^63 - 1 bytes")));
}

TEST(Table, RefusesStorageOfAnotherSize) {
  ASSERT_OK_AND_ASSIGN(AlignedBuffer storage, AlignedBuffer::Allocate(23));

  EXPECT_THAT(Table::Create(3, 2, ElementType::kFloat32, std::move(storage)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 24 bytes, got 23")));
}

}  // namespace
}  // namespace embd::core

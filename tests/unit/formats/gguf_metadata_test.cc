// What a GGUF file's pairs of key and value may hold, and what of them is kept.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/gguf_file.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/gguf_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kHuge = ~std::uint64_t{0};

class GgufMetadataTest : public ::testing::Test {
 protected:
  absl::StatusOr<GgufFile> Open(const GgufParts& parts) { return OpenGguf(folder_.Write("t.gguf", GgufBytes(parts))); }

  ScratchFolder folder_;
};

auto Invalid(const std::string& message) {
  return AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)), ReasonIs("INVALID_FILE"));
}

TEST_F(GgufMetadataTest, BadItemsOfArraysAreInvalid) {
  const std::string two = LittleEndian(2, 8);
  EXPECT_THAT(Open({.pairs = {GgufPair("k", 9, LittleEndian(7, 4) + two + "\x01\x02")}}),
              Invalid("byte 50: a boolean must be 0 or 1, got 2"));
  EXPECT_THAT(Open({.pairs = {GgufPair("k", 9, LittleEndian(8, 4) + two + GgufText("a") + LittleEndian(kHuge, 8))}}),
              Invalid("the file ends at"));
  const std::string many = LittleEndian(8, 4) + LittleEndian(5000, 8) + LittleEndian(kHuge, 8);
  EXPECT_THAT(Open({.pairs = {GgufPair("k", 9, many)}, .data = std::string(40'000, '\0')}),
              Invalid("before the 18446744073709551615 bytes that should come here"));
}

// A text that is too long to keep, or a number that no integer of ours holds: the whole array is passed over.
TEST_F(GgufMetadataTest, ArraysWithAnItemThatCannotBeKeptArePassedOver) {
  const std::string texts = LittleEndian(8, 4) + LittleEndian(3, 8) + GgufText("a") +
                            GgufText(std::string((1 << 20) + 1, 'x')) + GgufText("b");
  const std::string numbers = LittleEndian(10, 4) + LittleEndian(2, 8) + LittleEndian(1, 8) + LittleEndian(kHuge, 8);
  const std::string small = LittleEndian(10, 4) + LittleEndian(1, 8) + LittleEndian(kHuge >> 1, 8);

  ASSERT_OK_AND_ASSIGN(const GgufFile file,
                       Open({.pairs = {GgufPair("texts", 9, texts), GgufPair("numbers", 9, numbers),
                                       GgufPair("small", 9, small), GgufPair("behind", 0, "\x05")}}));

  EXPECT_EQ(file.metadata.at("texts"), GgufValue(GgufSkipped{3}));
  EXPECT_EQ(file.metadata.at("numbers"), GgufValue(GgufSkipped{2}));
  EXPECT_EQ(file.metadata.at("small"), GgufValue(std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max()}));
  EXPECT_EQ(file.metadata.at("behind"), GgufValue(std::int64_t{5}));
}

TEST_F(GgufMetadataTest, Uint64ThatAnIntegerHoldsAndListsOfFloat64AreKept) {
  const std::string list = LittleEndian(12, 4) + LittleEndian(2, 8) + Raw<double>({0.1, -2});

  ASSERT_OK_AND_ASSIGN(
      const GgufFile file,
      Open({.pairs = {GgufPair("number", 10, LittleEndian(kHuge >> 1, 8)), GgufPair("list", 9, list)}}));

  EXPECT_EQ(file.metadata.at("number"), GgufValue(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(file.metadata.at("list"), GgufValue(std::vector<double>{0.1, -2}));
}

TEST_F(GgufMetadataTest, LongTextsAndListsArePassedOver) {
  const std::string floats = LittleEndian(6, 4) + LittleEndian(5000, 8) + std::string(20'000, 'x');

  ASSERT_OK_AND_ASSIGN(const GgufFile file,
                       Open({.pairs = {GgufPair("text", 8, GgufText(std::string((1 << 20) + 1, 'x'))),
                                       GgufPair("floats", 9, floats), GgufPair("behind", 0, "\x05")}}));

  EXPECT_EQ(file.metadata.at("text"), GgufValue(GgufSkipped{(1 << 20) + 1}));
  EXPECT_EQ(file.metadata.at("floats"), GgufValue(GgufSkipped{5000}));
  EXPECT_EQ(file.metadata.at("behind"), GgufValue(std::int64_t{5}));
}

TEST_F(GgufMetadataTest, MetadataThatWouldTakeTheMemoryIsInvalid) {
  GgufParts parts;
  for (int i = 0; i < 65; ++i)
    parts.pairs.push_back(GgufPair(absl::StrCat("k", i), 8, GgufText(std::string(1 << 20, 'x'))));

  EXPECT_THAT(Open(parts), Invalid("the metadata takes more than 67108864 bytes"));

  GgufParts lists;  // eight times as large in memory as in the file
  const std::string list = LittleEndian(0, 4) + LittleEndian(4096, 8) + std::string(4096, '\0');
  for (int i = 0; i < 2048; ++i) lists.pairs.push_back(GgufPair(absl::StrCat("k", i), 9, list));
  EXPECT_THAT(Open(lists), Invalid("the metadata takes more than 67108864 bytes"));
}

}  // namespace
}  // namespace embd::formats

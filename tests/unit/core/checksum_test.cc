#include "server/core/table/checksum.h"

#include <span>
#include <string>

#include "gmock/gmock.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

std::string HexOf(const std::string& text) { return Sha256Hex(std::as_bytes(std::span(text))); }

// The examples of FIPS 180-4's companion papers.
TEST(Sha256Hex, GivesThePublishedAnswers) {
  EXPECT_EQ(HexOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HexOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HexOf(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Hex, TakesASpanOverNothing) {
  EXPECT_EQ(Sha256Hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, OfPiecesIsThatOfTheWhole) {
  Sha256 hash;
  const std::string text(100'000, 'a');
  for (std::size_t i = 0; i < 10; ++i) hash.Update(std::as_bytes(std::span(text)));
  hash.Update({});

  EXPECT_EQ(hash.Hex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(TableChecksum, IsThatOfTheRawElements) {
  // Little-endian float32 of 1 and -2.
  const std::string raw("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8);

  EXPECT_EQ(TableChecksum(testing::MakeTable({{1, -2}})), HexOf(raw));
}

TEST(TableChecksum, DoesNotDependOnTheShape) {
  EXPECT_EQ(TableChecksum(testing::MakeTable({{1, 2, 3, 4}})), TableChecksum(testing::MakeTable({{1, 2}, {3, 4}})));
}

}  // namespace
}  // namespace embd::core

#include "server/formats/line_reader.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The lines of a file with that content; or, instead of the rest, the message of the error.
std::vector<std::string> Lines(absl::string_view content) {
  const ScratchFolder folder;
  const auto file = FileReader::Open(folder.Write("lines", content));
  if (!file.ok()) return {"cannot open"};
  LineReader reader(*file);
  std::vector<std::string> lines;
  while (true) {
    const auto line = reader.Next();
    if (!line.ok()) {
      lines.emplace_back(line.status().message());
      return lines;
    }
    if (!line->has_value()) return lines;
    lines.emplace_back(**line);
    EXPECT_EQ(reader.line_number(), static_cast<std::int64_t>(lines.size()));
  }
}

TEST(LineReader, EndsOfLinesAreLfOrCrLf) {
  EXPECT_THAT(Lines("a\nb\r\n\n\r\nc\rd\n"), ElementsAre("a", "b", "", "", "c\rd"));
}

TEST(LineReader, LastLineNeedsNoEnd) { EXPECT_THAT(Lines("a\nb"), ElementsAre("a", "b")); }

TEST(LineReader, EmptyFileHasNoLine) { EXPECT_THAT(Lines(""), IsEmpty()); }

TEST(LineReader, LinesMayHoldZeroBytesAndBytesThatAreNoUtf8) {
  EXPECT_THAT(Lines(absl::string_view("a\0b\n\xff\n", 6)), ElementsAre(std::string("a\0b", 3), "\xff"));
}

TEST(LineReader, LinesAcrossAndBeyondTheBufferAreWhole) {
  const std::string a(200'000, 'a');
  const std::string b(3'000'000, 'b');
  const std::string c(255'000, 'c');

  const auto lines = Lines(a + "\n" + b + "\r\n" + c + "\n" + a);

  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[0] == a && lines[1] == b && lines[2] == c && lines[3] == a);
}

TEST(LineReader, LineWithoutBoundIsAnErrorWithItsNumber) {
  EXPECT_THAT(Lines("short\n" + std::string(LineReader::kMaxLineBytes + 1, 'x')),
              ElementsAre("short", HasSubstr("line 2: has 16777216 bytes or more")));
}

TEST(LineReader, LineOfOneByteLessIsOneAndNeedsNoEnd) {
  const std::string longest(LineReader::kMaxLineBytes - 1, 'x');

  EXPECT_TRUE(Lines(longest + "\n") == std::vector<std::string>{longest});
  EXPECT_TRUE(Lines(longest) == std::vector<std::string>{longest});
  EXPECT_THAT(Lines(longest + "x\n"), ElementsAre(HasSubstr("line 1: has 16777216 bytes or more")));
  EXPECT_THAT(Lines(longest + "x"), ElementsAre(HasSubstr("line 1: has 16777216 bytes or more")));
}

TEST(LineReader, ByteOrderMarkIsRefused) {
  EXPECT_THAT(Lines("\xEF\xBB\xBFthe\n"), ElementsAre(HasSubstr("line 1: begins with a byte order mark")));
}

}  // namespace
}  // namespace embd::formats

#include "server/formats/hashing_read.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/table/checksum.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + (i >> 12));
  return bytes;
}

class ReadAndHashTest : public ::testing::Test {
 protected:
  ScratchFolder folder_;
};

TEST_F(ReadAndHashTest, GivesBytesAndHashOfEverySize) {
  for (const std::size_t size : {std::size_t{1}, kPassingBytes - 1, kPassingBytes, 2 * kPassingBytes, 9 * kPassingBytes,
                                 9 * kPassingBytes + 1}) {
    SCOPED_TRACE(size);
    const std::string bytes = Pattern(size + 3);
    ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(folder_.Write("f", bytes)));
    std::vector<std::byte> out(size);
    core::NanCounter nans(core::ElementType::kFloat16, 1);

    ASSERT_OK_AND_ASSIGN(const std::string hash, ReadAndHash(file, 3, out, nans));

    const auto expected = std::as_bytes(std::span(bytes)).subspan(3);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin(), expected.end()));
    EXPECT_EQ(hash, core::Sha256Hex(expected));
  }
}

// The sixth piece cannot be read, whoever tries.
ssize_t FailFromTheSixthPiece(int descriptor, void* out, std::size_t size, off_t offset) {
  if (offset < static_cast<off_t>(5 * kPassingBytes)) return pread(descriptor, out, size, offset);
  errno = EIO;
  return -1;
}

TEST_F(ReadAndHashTest, ErrorNamesItsByte) {
  ASSERT_OK_AND_ASSIGN(const FileReader file,
                       FileReader::Open(folder_.Write("f", Pattern(8 * kPassingBytes)), FailFromTheSixthPiece));
  std::vector<std::byte> out(8 * kPassingBytes);
  core::NanCounter nans(core::ElementType::kFloat16, 1);

  EXPECT_THAT(ReadAndHash(file, 0, out, nans), AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                                              HasSubstr("byte 10485760: cannot be read: Input/output")),
                                                     ReasonIs("INVALID_FILE")));
}

TEST_F(ReadAndHashTest, FileThatEndsEarlyIsAnError) {
  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(folder_.Write("f", Pattern(5 * kPassingBytes))));
  ASSERT_EQ(truncate(folder_.Path("f").c_str(), static_cast<off_t>(3 * kPassingBytes)), 0);
  std::vector<std::byte> out(5 * kPassingBytes);
  core::NanCounter nans(core::ElementType::kFloat16, 1);

  EXPECT_THAT(ReadAndHash(file, 0, out, nans),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("byte 6291456: the file ends here")));
}

}  // namespace
}  // namespace embd::formats

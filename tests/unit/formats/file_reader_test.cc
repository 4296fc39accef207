#include "server/formats/file_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ReadAll(const FileReader& file, absl::Status& status) {
  std::string out(file.size(), '?');
  status = file.ReadAt(0, std::as_writable_bytes(std::span(out)));
  return out;
}

// Interrupted every other time, and never more than three bytes.
ssize_t SlowPread(int descriptor, void* out, std::size_t size, off_t offset) {
  static int calls = 0;
  if (++calls % 2 == 0) {
    errno = EINTR;
    return -1;
  }
  return pread(descriptor, out, std::min<std::size_t>(size, 3), offset);
}

ssize_t FailingPread(int, void*, std::size_t, off_t) {
  errno = EIO;
  return -1;
}

TEST(FileReader, ReadsFromAnyPlace) {
  const ScratchFolder folder;
  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(folder.Write("file", "0123456789")));
  std::string out(4, '\0');

  ASSERT_THAT(file.ReadAt(3, std::as_writable_bytes(std::span(out))), IsOk());

  EXPECT_EQ(file.size(), 10u);
  EXPECT_EQ(out, "3456");
}

TEST(FileReader, GoesOnAfterInterruptsAndShortReads) {
  const ScratchFolder folder;
  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(folder.Write("file", "0123456789"), SlowPread));
  absl::Status status;

  const std::string out = ReadAll(file, status);

  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(out, "0123456789");
}

TEST(FileReader, FailedReadGivesByteAndReason) {
  const ScratchFolder folder;
  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(folder.Write("file", "0123456789"), FailingPread));
  absl::Status status;

  ReadAll(file, status);

  EXPECT_THAT(status, AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("byte 0: cannot be read: Input/output error")),
                            ReasonIs("INVALID_FILE")));
}

TEST(FileReader, FileThatShrinksIsAnError) {
  const ScratchFolder folder;
  const std::string path = folder.Write("file", "0123456789");
  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(path));
  std::filesystem::resize_file(path, 6);
  absl::Status status;

  ReadAll(file, status);

  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("byte 6: the file ends here, it had 10 bytes when opened")));
}

TEST(FileReader, FileThatGrowsIsSeen) {
  const ScratchFolder folder;
  const std::string path = folder.Write("file", "0123456789");
  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(path));
  EXPECT_THAT(file.CheckUnchanged(), IsOk());

  std::filesystem::resize_file(path, 11);

  EXPECT_THAT(file.CheckUnchanged(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("from 10 to 11 bytes")));
}

TEST(FileReader, FileThatIsWrittenInPlaceIsSeen) {
  const ScratchFolder folder;
  const std::string path = folder.Write("file", "0123456789");
  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(path));

  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));

  EXPECT_THAT(file.CheckUnchanged(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the file changed while it was read")));
}

TEST(FileReader, MissingFileGivesTheSystemsReason) {
  const ScratchFolder folder;

  EXPECT_THAT(FileReader::Open(folder.Path("none")),
              AllOf(StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot open the file: No such file or directory")),
                    ReasonIs("FILE_NOT_FOUND")));
}

TEST(FileReader, PathWithAZeroByteIsNotCutThere) {
  const ScratchFolder folder;
  const std::string path = folder.Write("file", "x");

  EXPECT_THAT(FileReader::Open(path + std::string("\0.npy", 5)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("zero byte")));
}

TEST(FileReader, FolderIsRefused) {
  const ScratchFolder folder;

  EXPECT_THAT(FileReader::Open(folder.Path("")),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is a folder, not a regular file")),
                    ReasonIs("INVALID_FILE")));
}

TEST(FileReader, FifoIsRefusedWithoutWaitingForAWriter) {
  const ScratchFolder folder;
  const std::string path = folder.Path("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);

  EXPECT_THAT(FileReader::Open(path), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is a FIFO")));
}

TEST(FileReader, SocketCannotBeOpened) {
  const ScratchFolder folder;
  const std::string path = folder.Path("socket");
  ASSERT_EQ(mknod(path.c_str(), S_IFSOCK | 0600, 0), 0);

  EXPECT_THAT(FileReader::Open(path),
              AllOf(StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot open the file: No such device")),
                    ReasonIs("FILE_NOT_FOUND")));
}

TEST(FileReader, DeviceIsRefused) {
  EXPECT_THAT(FileReader::Open("/dev/zero"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is a device")));
}

TEST(FileReader, LinkToAFileIsFollowed) {
  const ScratchFolder folder;
  std::filesystem::create_symlink(folder.Write("file", "abc"), folder.Path("link"));

  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(folder.Path("link")));

  EXPECT_EQ(file.size(), 3u);
}

}  // namespace
}  // namespace embd::formats

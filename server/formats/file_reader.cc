#include "server/formats/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"

namespace embd::formats {
namespace {

std::string SystemReason(int error) { return std::generic_category().message(error); }

absl::string_view KindOfFile(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

absl::Status CannotOpen(absl::string_view why) {
  return core::Error(absl::StatusCode::kNotFound, "FILE_NOT_FOUND", absl::StrCat("cannot open the file: ", why));
}

}  // namespace

absl::StatusOr<FileReader> FileReader::Open(const std::string& path, PreadFunction pread) {
  if (path.find('\0') != std::string::npos) return CannotOpen("its path contains a zero byte");
  int descriptor = -1;
  do {
    descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return CannotOpen(SystemReason(errno));
  struct stat status {};
  if (fstat(descriptor, &status) != 0) {
    const int error = errno;
    close(descriptor);
    return CannotOpen(SystemReason(error));
  }
  if (!S_ISREG(status.st_mode)) {
    close(descriptor);
    return InvalidFile(absl::StrCat("is ", KindOfFile(status.st_mode), ", not a regular file"));
  }
  return FileReader(descriptor, static_cast<std::uint64_t>(status.st_size), status.st_mtim, pread);
}

FileReader::FileReader(FileReader&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      modified_(other.modified_),
      pread_(other.pread_) {}

FileReader::~FileReader() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status FileReader::ReadAt(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count = pread_(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return InvalidFile(absl::StrCat("byte ", offset, ": cannot be read: ", SystemReason(errno)));
    if (count == 0) {
      return InvalidFile(absl::StrCat("byte ", offset, ": the file ends here, it had ", size_, " bytes when opened"));
    }
    offset += static_cast<std::uint64_t>(count);
    out = out.subspan(static_cast<std::size_t>(count));
  }
  return absl::OkStatus();
}

absl::StatusOr<core::MappedRegion> FileReader::Map(std::uint64_t offset, std::size_t size) const {
  return core::MappedRegion::Map(descriptor_, offset, size);
}

absl::Status FileReader::CheckUnchanged() const {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) return InvalidFile(SystemReason(errno));
  if (static_cast<std::uint64_t>(status.st_size) != size_) {
    return InvalidFile(
        absl::StrCat("the file changed while it was read: from ", size_, " to ", status.st_size, " bytes"));
  }
  if (status.st_mtim.tv_sec != modified_.tv_sec || status.st_mtim.tv_nsec != modified_.tv_nsec) {
    return InvalidFile("the file changed while it was read");
  }
  return absl::OkStatus();
}

}  // namespace embd::formats

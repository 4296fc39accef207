#ifndef EMBD_SERVER_FORMATS_FILE_READER_H_
#define EMBD_SERVER_FORMATS_FILE_READER_H_

#include <sys/types.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/table/mapped_region.h"

namespace embd::formats {

/// A regular file, open for reading at any place.
///
/// Ownership: owns the descriptor; movable, not copyable. Thread safety: all const calls may run at once.
class FileReader {
 public:
  /// What reads: pread(2), or a stand-in for it in tests.
  using PreadFunction = ssize_t (*)(int, void*, std::size_t, off_t);

  /// Opens `path`; never blocks, not even on a FIFO.
  ///
  /// Errors:
  ///   NOT_FOUND         [FILE_NOT_FOUND] it cannot be opened; with the system's reason.
  ///   INVALID_ARGUMENT  [INVALID_FILE] it is a folder, a FIFO, a device or the like.
  [[nodiscard]] static absl::StatusOr<FileReader> Open(const std::string& path, PreadFunction pread = ::pread);

  FileReader(FileReader&& other) noexcept;
  FileReader& operator=(FileReader&&) = delete;
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  ~FileReader();

  /// Bytes of the file when it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Fills `out` with the bytes from `offset` on, which must lie inside the file. Interrupted and short reads go on.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  [INVALID_FILE] the file has become shorter, or the system cannot read it.
  [[nodiscard]] absl::Status ReadAt(std::uint64_t offset, std::span<std::byte> out) const;

  /// Maps `size` bytes, at least 1, from `offset` on; all must lie inside the file. Outlives the reader.
  ///
  /// Errors: those of core::MappedRegion::Map.
  [[nodiscard]] absl::StatusOr<core::MappedRegion> Map(std::uint64_t offset, std::size_t size) const;

  /// OK if size and time of change are still those of `Open`, so that what was read belongs together.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  [INVALID_FILE] somebody wrote to the file.
  [[nodiscard]] absl::Status CheckUnchanged() const;

 private:
  FileReader(int descriptor, std::uint64_t size, timespec modified, PreadFunction pread)
      : descriptor_(descriptor), size_(size), modified_(modified), pread_(pread) {}

  int descriptor_;
  std::uint64_t size_;
  timespec modified_;
  PreadFunction pread_;
};

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_FILE_READER_H_

#ifndef EMBD_SERVER_FORMATS_BYTE_CURSOR_H_
#define EMBD_SERVER_FORMATS_BYTE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/formats/file_reader.h"

namespace embd::formats {

/// Reads little-endian values of a binary file one after the other. Nothing is read or allocated beyond the file's end.
///
/// The first error stays: later reads give zeros and empty strings, and `status` tells it, so that reading code can go
/// on to a place where it is asked. Memory: a buffer of 64 KiB. Not thread-safe; `file` must outlive it.
class ByteCursor {
 public:
  explicit ByteCursor(const FileReader& file);

  [[nodiscard]] const absl::Status& status() const { return status_; }
  /// Of the byte that comes next.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  /// Bytes from there to the file's end.
  [[nodiscard]] std::uint64_t left() const { return file_.size() - position_; }

  /// The next value of an arithmetic type.
  template <typename Value>
  [[nodiscard]] Value Read() {
    Value value{};
    ReadInto(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  /// The next `size` bytes as text.
  [[nodiscard]] std::string ReadText(std::uint64_t size);

  /// Passes over `size` bytes without reading them.
  void Skip(std::uint64_t size);

  /// Keeps INVALID_ARGUMENT [INVALID_FILE] with "byte N: " before `message`, unless there was an error before.
  void Fail(std::uint64_t byte, absl::string_view message);

 private:
  void ReadInto(std::span<std::byte> out);
  bool Has(std::uint64_t size);

  const FileReader& file_;
  absl::Status status_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> buffer_;
  std::uint64_t buffer_begin_ = 0;  // place of its first byte in the file
  std::size_t buffer_size_ = 0;     // bytes of the file in it
};

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_BYTE_CURSOR_H_

#ifndef EMBD_SERVER_FORMATS_LINE_READER_H_
#define EMBD_SERVER_FORMATS_LINE_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/file_reader.h"

namespace embd::formats {

/// Reads a text file line by line, once, from its start. Lines end with LF or CR LF; the last one may end with the
/// file.
///
/// Memory: a buffer of 256 KiB, more only where a line is longer, up to 16 MiB. Not thread-safe; `file` must outlive
/// it.
class LineReader {
 public:
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

  explicit LineReader(const FileReader& file);

  /// The next line without its end, valid until the next call; nothing after the last line.
  ///
  /// Errors: those of `FileReader::ReadAt`, and
  ///   INVALID_ARGUMENT  [INVALID_FILE] the line has 16 MiB or more, or the file begins with a byte order mark, which
  ///                     would become part of the first word unseen.
  [[nodiscard]] absl::StatusOr<std::optional<absl::string_view>> Next();

  /// The number of the line that `Next` returned last, from 1 on.
  [[nodiscard]] std::int64_t line_number() const { return line_number_; }

 private:
  absl::Status Fill();
  absl::StatusOr<std::optional<absl::string_view>> EndLine(absl::string_view line);

  const FileReader& file_;
  std::uint64_t file_position_ = 0;  // of the byte after those in the buffer
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // what is not returned yet is buffer_[begin_, end_)
  std::size_t end_ = 0;
  std::int64_t line_number_ = 0;
};

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_LINE_READER_H_

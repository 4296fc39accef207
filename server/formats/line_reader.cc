#include "server/formats/line_reader.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "absl/strings/str_cat.h"
#include "server/formats/file_error.h"

namespace embd::formats {
namespace {

constexpr std::size_t kBufferBytes = 256 << 10;

absl::Status TooLong(std::int64_t line_number) {
  return InvalidFile(absl::StrCat("line ", line_number, ": has ", LineReader::kMaxLineBytes, " bytes or more"));
}

}  // namespace

LineReader::LineReader(const FileReader& file) : file_(file), buffer_(kBufferBytes) {}

absl::StatusOr<std::optional<absl::string_view>> LineReader::Next() {
  std::size_t searched = 0;
  while (true) {
    const char* const start = buffer_.data() + begin_;
    const std::size_t available = end_ - begin_;
    const void* const newline = std::memchr(start + searched, '\n', available - searched);
    if (newline != nullptr) {
      const std::size_t length = static_cast<std::size_t>(static_cast<const char*>(newline) - start);
      begin_ += length + 1;
      return EndLine(absl::string_view(start, length));
    }
    if (file_position_ == file_.size()) {
      if (available == 0) return std::nullopt;
      begin_ = end_;
      return EndLine(absl::string_view(start, available));
    }
    searched = available;
    if (auto status = Fill(); !status.ok()) return status;
  }
}

absl::StatusOr<std::optional<absl::string_view>> LineReader::EndLine(absl::string_view line) {
  ++line_number_;
  if (line.size() >= kMaxLineBytes) return TooLong(line_number_);  // the last one, which no end of a line follows
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line_number_ == 1 && line.substr(0, 3) == "\xEF\xBB\xBF") {
    return InvalidFile("line 1: begins with a byte order mark (EF BB BF)");
  }
  return line;
}

// Reads on, after the beginning of a line that is in the buffer.
absl::Status LineReader::Fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    if (buffer_.size() >= kMaxLineBytes) return TooLong(line_number_ + 1);
    buffer_.resize(buffer_.size() * 2);
  }
  const std::size_t count =
      static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size() - end_, file_.size() - file_position_));
  if (auto status = file_.ReadAt(file_position_, std::as_writable_bytes(std::span(buffer_).subspan(end_, count)));
      !status.ok()) {
    return status;
  }
  file_position_ += count;
  end_ += count;
  return absl::OkStatus();
}

}  // namespace embd::formats

#include "server/formats/byte_cursor.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "server/formats/file_error.h"

namespace embd::formats {

static_assert(std::endian::native == std::endian::little, "values are copied as they stand in the file");

ByteCursor::ByteCursor(const FileReader& file) : file_(file), buffer_(std::size_t{64} << 10) {}

void ByteCursor::Fail(std::uint64_t byte, absl::string_view message) {
  if (status_.ok()) status_ = InvalidFile(absl::StrCat("byte ", byte, ": ", message));
}

bool ByteCursor::Has(std::uint64_t size) {
  if (status_.ok() && size <= left()) return true;
  Fail(position_,
       absl::StrCat("the file ends at ", file_.size(), ", before the ", size, " bytes that should come here"));
  return false;
}

void ByteCursor::ReadInto(std::span<std::byte> out) {
  if (!Has(out.size())) return;
  while (!out.empty()) {
    if (position_ < buffer_begin_ || position_ >= buffer_begin_ + buffer_size_) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), left()));
      if (absl::Status status = file_.ReadAt(position_, std::span(buffer_).first(count)); !status.ok()) {
        status_ = status;
        return;
      }
      buffer_begin_ = position_;
      buffer_size_ = count;
    }
    const auto begin = static_cast<std::size_t>(position_ - buffer_begin_);
    const std::size_t count = std::min(out.size(), buffer_size_ - begin);
    std::memcpy(out.data(), buffer_.data() + begin, count);
    out = out.subspan(count);
    position_ += count;
  }
}

std::string ByteCursor::ReadText(std::uint64_t size) {
  if (!Has(size)) return "";
  std::string text(static_cast<std::size_t>(size), '\0');
  ReadInto(std::as_writable_bytes(std::span(text)));
  return status_.ok() ? text : "";
}

void ByteCursor::Skip(std::uint64_t size) {
  if (Has(size)) position_ += size;
}

}  // namespace embd::formats

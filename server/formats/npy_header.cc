#include "server/formats/npy_header.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"

namespace embd::formats {
namespace {

constexpr std::uint64_t kMaxHeaderBytes = 64 << 10;

/// Steps through the Python literal; every error names the byte of the file.
class DictParser {
 public:
  DictParser(absl::string_view text, std::uint64_t offset, std::int64_t rank)
      : text_(text), offset_(offset), wanted_rank_(rank) {}

  absl::StatusOr<NpyHeader> Parse();

 private:
  // Whether the next character, after white space, is `wanted`; takes it if so.
  bool Take(char wanted) {
    SkipSpace();
    if (position_ >= text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }
  void SkipSpace() {
    while (position_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[position_]))) ++position_;
  }
  char Peek() {
    SkipSpace();
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  absl::Status Fail(absl::string_view message) const {
    return InvalidFile(absl::StrCat("byte ", offset_ + position_, ": ", message));
  }

  absl::StatusOr<std::string> String();
  absl::Status KeyAndValue();
  absl::Status Descr();
  absl::Status FortranOrder();
  absl::Status Shape();
  absl::StatusOr<std::int64_t> Dimension();

  absl::string_view text_;
  std::uint64_t offset_;
  std::size_t position_ = 0;
  std::int64_t wanted_rank_;
  NpyHeader header_;
  bool has_descr_ = false;
  bool has_fortran_order_ = false;
  bool has_shape_ = false;
};

absl::StatusOr<NpyHeader> DictParser::Parse() {
  if (!Take('{')) return Fail("the header is not a Python dict: expected {");
  while (!Take('}')) {
    if (auto status = KeyAndValue(); !status.ok()) return status;
    if (!Take(',') && Peek() != '}') return Fail("expected , or }");
  }
  SkipSpace();
  if (position_ != text_.size()) return Fail("the header goes on after its closing }");
  if (!has_descr_) return Fail("key \"descr\" is missing");
  if (!has_fortran_order_) return Fail("key \"fortran_order\" is missing");
  if (!has_shape_) return Fail("key \"shape\" is missing");
  return header_;
}

absl::Status DictParser::KeyAndValue() {
  const auto key = String();
  if (!key.ok()) return key.status();
  bool* seen = nullptr;
  absl::Status (DictParser::*value)() = nullptr;
  if (*key == "descr") {
    seen = &has_descr_;
    value = &DictParser::Descr;
  } else if (*key == "fortran_order") {
    seen = &has_fortran_order_;
    value = &DictParser::FortranOrder;
  } else if (*key == "shape") {
    seen = &has_shape_;
    value = &DictParser::Shape;
  } else {
    return Fail(absl::StrCat("unknown key ", core::Quote(*key), "; descr, fortran_order and shape are allowed"));
  }
  if (*seen) return Fail(absl::StrCat("key ", core::Quote(*key), " stands twice"));
  *seen = true;
  if (!Take(':')) return Fail("expected :");
  return (this->*value)();
}

absl::StatusOr<std::string> DictParser::String() {
  const char quote = Peek();
  if (quote != '\'' && quote != '"') return Fail("expected a string in quotes");
  const std::size_t end = text_.find(quote, position_ + 1);
  if (end == absl::string_view::npos) return Fail("a string is not closed");
  const absl::string_view content = text_.substr(position_ + 1, end - position_ - 1);
  if (content.find_first_of("\\\n") != absl::string_view::npos) return Fail("a string with a backslash or a new line");
  position_ = end + 1;
  return std::string(content);
}

// What numpy writes for types that are not served: a letter for the kind, a size, and a unit in brackets for times.
bool IsOtherDtype(absl::string_view name) {
  constexpr absl::string_view kKinds = "?bBhHiIlLqQuefdgFDGcmMOSaUV";
  if (name.empty() || kKinds.find(name.front()) == absl::string_view::npos) return false;
  name.remove_prefix(1);
  while (!name.empty() && absl::ascii_isdigit(static_cast<unsigned char>(name.front()))) name.remove_prefix(1);
  return name.empty() || (name.front() == '[' && name.back() == ']');
}

absl::Status DictParser::Descr() {
  if (Peek() == '[' || Peek() == '(') {
    return UnsupportedFormat(absl::StrCat("byte ", offset_ + position_, ": a structured dtype is not served"));
  }
  const std::size_t start = position_;
  const auto descr = String();
  if (!descr.ok()) return descr.status();
  absl::string_view name = *descr;
  if (!name.empty() && absl::string_view("<>=|").find(name.front()) != absl::string_view::npos) {
    header_.big_endian = name.front() == '>';
    name.remove_prefix(1);
  }
  if (name == "f4") {
    header_.type = core::ElementType::kFloat32;
  } else if (name == "f2") {
    header_.type = core::ElementType::kFloat16;
  } else if (name == "f8") {
    header_.type = core::ElementType::kFloat64;
  } else if (IsOtherDtype(name)) {
    return UnsupportedFormat(absl::StrCat("byte ", offset_ + start, ": dtype ", core::Quote(*descr),
                                          " is not served; f2, f4 and f8 are, in either byte order"));
  } else {
    return InvalidFile(absl::StrCat("byte ", offset_ + start, ": ", core::Quote(*descr), " is no numpy dtype"));
  }
  return absl::OkStatus();
}

absl::Status DictParser::FortranOrder() {
  SkipSpace();
  const absl::string_view rest = text_.substr(position_);
  const absl::string_view word = rest.substr(0, rest.find_first_of(",} \t\r\n"));
  if (word != "True" && word != "False") return Fail("fortran_order must be True or False");
  header_.column_major = word == "True";
  position_ += word.size();
  return absl::OkStatus();
}

absl::Status DictParser::Shape() {
  if (!Take('(')) return Fail("shape must be a tuple: expected (");
  std::int64_t rank = 0;
  bool comma = true;
  while (!Take(')')) {
    if (!comma) return Fail("expected , or )");
    const auto dimension = Dimension();
    if (!dimension.ok()) return dimension.status();
    if (rank == 0) header_.rows = *dimension;
    if (rank == 1) header_.columns = *dimension;
    ++rank;
    comma = Take(',');
  }
  if (rank == 1 && !comma) return Fail("shape must be a tuple: (n) is a number, (n,) would be one");
  if (rank != wanted_rank_) {
    return Fail(absl::StrCat("the array has ", Count(rank, "dimension"),
                             wanted_rank_ == 2 ? "; a table has 2" : "; a vector has 1"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> DictParser::Dimension() {
  SkipSpace();
  const std::size_t start = position_;
  std::int64_t value = 0;
  for (; position_ < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[position_])); ++position_) {
    const std::int64_t digit = text_[position_] - '0';
    if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10) return Fail("a dimension exceeds 2^63 - 1");
    value = value * 10 + digit;
  }
  if (position_ == start) return Fail("a dimension must be a whole number of at least 0");
  if (position_ - start > 1 && text_[start] == '0') return Fail("a dimension with a leading 0");
  if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // as Python 2 wrote its long numbers
  return value;
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyDict(absl::string_view text, std::uint64_t offset, std::int64_t rank) {
  return DictParser(text, offset, rank).Parse();
}

absl::StatusOr<NpyLayout> ReadNpyLayout(const FileReader& file, std::int64_t rank) {
  constexpr std::array<unsigned char, 6> kMagic = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  std::array<unsigned char, 12> start{};  // magic, version, length of the header in 2 or 4 bytes
  const std::size_t available = static_cast<std::size_t>(std::min<std::uint64_t>(start.size(), file.size()));
  if (auto status = file.ReadAt(0, std::as_writable_bytes(std::span(start)).first(available)); !status.ok()) {
    return status;
  }
  if (available < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), start.begin())) {
    return InvalidFile("byte 0: not an .npy file: it must begin with \\x93NUMPY");
  }
  if (available < 8) return InvalidFile(absl::StrCat("byte ", available, ": the file ends within its version"));
  const int major = start[6];
  const int minor = start[7];
  if (major < 1 || major > 3 || minor != 0) {
    return InvalidFile(absl::StrCat("byte 6: version ", major, ".", minor, " is unknown; 1.0, 2.0 and 3.0 are known"));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::uint64_t header_offset = 8 + length_bytes;
  if (available < header_offset) return InvalidFile("byte 8: the file ends within the length of its header");
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i > 0; --i) length = length << 8 | start[7 + i];
  if (length > kMaxHeaderBytes) {
    return InvalidFile(absl::StrCat("byte 8: a header of ", length, " bytes exceeds ", kMaxHeaderBytes));
  }
  if (length > file.size() - header_offset) {
    return InvalidFile(absl::StrCat("byte 8: a header of ", length, " bytes goes beyond the file's ", file.size()));
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  if (auto status = file.ReadAt(header_offset, std::as_writable_bytes(std::span(text))); !status.ok()) return status;
  auto header = ParseNpyDict(text, header_offset, rank);
  if (!header.ok()) return header.status();
  return NpyLayout{.header = *header, .data_offset = header_offset + length};
}

}  // namespace embd::formats

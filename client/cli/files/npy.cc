#include "client/cli/files/npy.h"

#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/files/file_element.h"
#include "client/cli/files/number_text.h"

namespace embd::cli {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Reads the one form of Python dictionary that a header has: string keys; a string, True or False, or a tuple of
// integers.
class HeaderReader {
 public:
  explicit HeaderReader(absl::string_view text) : text_(text) {}

  absl::StatusOr<Header> Read() {
    Header header;
    bool descr_seen = false;
    bool order_seen = false;
    bool shape_seen = false;
    if (!Take('{')) return Bad();
    while (!Take('}')) {
      const std::optional<std::string> key = String();
      if (!key.has_value() || !Take(':')) return Bad();
      if (*key == "descr" && !descr_seen) {
        const std::optional<std::string> descr = String();
        if (!descr.has_value()) return Invalid("structured element types are not taken");
        header.descr = *descr;
        descr_seen = true;
      } else if (*key == "fortran_order" && !order_seen) {
        header.fortran_order = Word("True");
        if (!header.fortran_order && !Word("False")) return Bad();
        order_seen = true;
      } else if (*key == "shape" && !shape_seen) {
        if (!Shape(header.shape)) return Bad();
        shape_seen = true;
      } else {
        return Bad();
      }
      if (!Take(',') && !Peek('}')) return Bad();
    }
    if (!descr_seen || !order_seen || !shape_seen) return Bad();
    return header;
  }

 private:
  absl::Status Bad() const { return Invalid(absl::StrCat("the .npy header is malformed at its byte ", at_)); }

  bool Peek(char wanted) {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() && text_[at_] == wanted;
  }

  bool Take(char wanted) {
    if (!Peek(wanted)) return false;
    ++at_;
    return true;
  }

  bool Word(absl::string_view word) {
    Peek(' ');
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::optional<std::string> String() {
    const char quote = Peek('"') ? '"' : '\'';
    if (!Take(quote)) return std::nullopt;
    const std::size_t end = text_.find(quote, at_);
    if (end == absl::string_view::npos) return std::nullopt;
    const std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }

  bool Shape(std::vector<std::int64_t>& shape) {
    if (!Take('(')) return false;
    while (!Take(')')) {
      Peek(' ');
      std::int64_t extent = 0;
      const char* const begin = text_.data() + at_;
      const auto [stop, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) return false;
      shape.push_back(extent);
      at_ += static_cast<std::size_t>(stop - begin);
      Take('L');  // Python 2 wrote long integers so
      if (!Take(',') && !Peek(')')) return false;
    }
    return true;
  }

  absl::string_view text_;
  std::size_t at_ = 0;
};

constexpr std::array kElements = {
    FileElement{"<f4", 4, DataType::kFloat32, CopyElements},
    FileElement{"<f2", 2, DataType::kFloat16, CopyElements},
    FileElement{"<f8", 8, DataType::kFloat64, CopyElements},
    FileElement{"<i4", 4, DataType::kInt32, CopyElements},
    FileElement{"<i8", 8, DataType::kInt64, CopyElements},
    FileElement{"|i1", 1, DataType::kInt64, WidenToInt64<std::int8_t>},
    FileElement{"|u1", 1, DataType::kInt64, WidenToInt64<std::uint8_t>},
    FileElement{"<i2", 2, DataType::kInt64, WidenToInt64<std::int16_t>},
    FileElement{"<u2", 2, DataType::kInt64, WidenToInt64<std::uint16_t>},
    FileElement{"<u4", 4, DataType::kInt64, WidenToInt64<std::uint32_t>},
};

absl::StatusOr<FileElement> FindFileElement(absl::string_view descr) {
  for (const FileElement& element : kElements) {
    if (element.name == descr) return element;
  }
  if (descr.substr(0, 1) == ">") return Invalid(absl::StrCat("big-endian elements (", descr, ") are not taken"));
  return Invalid(absl::StrCat("elements of type ", Quoted(descr),
                              " are not taken, only float16, float32, float64 and integers that fit int64"));
}

// Splits off the header; what remains in `bytes` are the elements.
absl::StatusOr<Header> TakeHeader(absl::string_view& bytes) {
  if (bytes.size() < 10 || bytes.substr(0, kMagic.size()) != kMagic) return Invalid("not a .npy file");
  const unsigned version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    return Invalid(absl::StrCat("version ", version, " of .npy is not taken, only 1 to 3"));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  bytes.remove_prefix(8);
  if (bytes.size() < length_bytes) return Invalid("the .npy header is cut off");
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  bytes.remove_prefix(length_bytes);
  if (bytes.size() < length) return Invalid("the .npy header is cut off");
  absl::StatusOr<Header> header = HeaderReader(bytes.substr(0, length)).Read();
  bytes.remove_prefix(length);
  return header;
}

// Columns one after the other become rows one after the other.
std::vector<std::byte> Transposed(absl::string_view bytes, std::size_t rows, std::size_t columns, std::size_t size) {
  std::vector<std::byte> turned(bytes.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::memcpy(turned.data() + (row * columns + column) * size, bytes.data() + (column * rows + row) * size, size);
    }
  }
  return turned;
}

}  // namespace

absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes) {
  absl::StatusOr<Header> header = TakeHeader(bytes);
  if (!header.ok()) return header.status();
  const absl::StatusOr<FileElement> type = FindFileElement(header->descr);
  if (!type.ok()) return type.status();

  const std::optional<std::int64_t> count = ElementCount(header->shape);
  if (!count.has_value() || bytes.size() % type->bytes != 0 ||
      bytes.size() / type->bytes != static_cast<std::size_t>(*count)) {
    return Invalid(absl::StrCat("shape (", absl::StrJoin(header->shape, ", "), ") of ", type->name,
                                " does not fit the ", bytes.size(), " bytes there are"));
  }
  std::vector<std::byte> turned;
  if (header->fortran_order && header->shape.size() > 1) {
    if (header->shape.size() > 2) return Invalid("Fortran order is taken for up to two extents only");
    turned = Transposed(bytes, static_cast<std::size_t>(header->shape[0]), static_cast<std::size_t>(header->shape[1]),
                        type->bytes);
    bytes = absl::string_view(reinterpret_cast<const char*>(turned.data()), turned.size());
  }
  return Tensor{.type = type->type, .shape = std::move(header->shape), .bytes = type->decode(bytes)};
}

absl::Status CheckNpyHolds(DataType type) {
  for (const FileElement& element : kElements) {
    if (element.Writes(type)) return absl::OkStatus();
  }
  return Invalid(
      absl::StrCat(".npy cannot hold ", Name(type), "; ask for float16 or float32, or write a .safetensors file"));
}

absl::Status WriteNpy(TensorView tensor, std::ostream& out) {
  if (absl::Status status = CheckNpyHolds(tensor.type); !status.ok()) return status;
  absl::string_view descr;
  for (const FileElement& element : kElements) {
    if (element.Writes(tensor.type)) descr = element.name;
  }
  std::string header = absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                                    absl::StrJoin(tensor.shape, ", "), tensor.shape.size() == 1 ? ",), }" : "), }");
  constexpr std::size_t kAlignment = 64;
  const std::size_t before_header = kMagic.size() + 4;
  while ((before_header + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  const char version_and_length[] = {1, 0, static_cast<char>(header.size() & 0xFF),
                                     static_cast<char>(header.size() >> 8)};
  out << kMagic;
  out.write(version_and_length, sizeof(version_and_length));
  out << header;
  out.write(reinterpret_cast<const char*>(tensor.bytes.data()), static_cast<std::streamsize>(tensor.bytes.size()));
  return absl::OkStatus();
}

}  // namespace embd::cli

#include "client/cli/files/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace embd::cli {
namespace {

template <typename T>
void AppendFloat(T value, NonFinite spelling, std::string& out) {
  if (std::isnan(value)) {
    out += spelling == NonFinite::kJson ? "NaN" : "nan";
    return;
  }
  if (std::isinf(value)) {
    if (value < 0) out += '-';
    out += spelling == NonFinite::kJson ? "Infinity" : "inf";
    return;
  }
  char buffer[40];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  const absl::string_view digits(buffer, static_cast<std::size_t>(end - buffer));
  absl::StrAppend(&out, digits, digits.find_first_of(".e") == absl::string_view::npos ? ".0" : "");
}

template <typename T>
void AppendBytes(T value, std::vector<std::byte>& out) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), begin, begin + sizeof(T));
}

// from_chars leaves the value untouched where it is out of range and does not tell too large from too small.
float Saturated(const std::string& text, float) { return std::strtof(text.c_str(), nullptr); }
double Saturated(const std::string& text, double) { return std::strtod(text.c_str(), nullptr); }

// "+-5" keeps its plus, and so is no number.
absl::string_view WithoutPlus(absl::string_view text) {
  return text.substr(text.substr(0, 1) == "+" && text.substr(1, 1) != "-" ? 1 : 0);
}

template <typename T>
absl::Status ParseFloat(absl::string_view text, DataType type, std::vector<std::byte>& out) {
  T value{};
  const absl::string_view unsigned_text = WithoutPlus(text);
  const char* const end = unsigned_text.data() + unsigned_text.size();
  const auto [stop, error] = std::from_chars(unsigned_text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) {
    return absl::InvalidArgumentError(absl::StrCat(Quoted(text), " is not a number"));
  }
  if (error == std::errc::result_out_of_range) {
    value = Saturated(std::string(unsigned_text), T{});
    if (std::isinf(value)) return absl::InvalidArgumentError(absl::StrCat(Quoted(text), " does not fit ", Name(type)));
  }
  AppendBytes(value, out);
  return absl::OkStatus();
}

absl::Status ParseInteger(absl::string_view text, std::vector<std::byte>& out) {
  std::int64_t value = 0;
  const absl::string_view unsigned_text = WithoutPlus(text);
  const char* const end = unsigned_text.data() + unsigned_text.size();
  const auto [stop, error] = std::from_chars(unsigned_text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) {
    return absl::InvalidArgumentError(absl::StrCat(Quoted(text), " is not a whole number"));
  }
  if (error == std::errc::result_out_of_range) {
    return absl::InvalidArgumentError(absl::StrCat(Quoted(text), " does not fit 64 bits"));
  }
  AppendBytes(value, out);
  return absl::OkStatus();
}

}  // namespace

void AppendNumber(TensorView tensor, std::size_t index, NonFinite spelling, std::string& out) {
  if (IsInteger(tensor.type)) {
    absl::StrAppend(&out, IntegerAt(tensor, index));
  } else if (tensor.type == DataType::kFloat64) {
    AppendFloat(DoubleAt(tensor, index), spelling, out);
  } else {
    AppendFloat(FloatAt(tensor, index), spelling, out);
  }
}

absl::Status AppendParsed(absl::string_view text, DataType type, std::vector<std::byte>& out) {
  switch (type) {
    case DataType::kInt64: return ParseInteger(text, out);
    case DataType::kFloat32: return ParseFloat<float>(text, type, out);
    case DataType::kFloat64: return ParseFloat<double>(text, type, out);
    default: return absl::InternalError(absl::StrCat("text is not read as ", Name(type)));
  }
}

std::string Quoted(absl::string_view text) {
  constexpr std::size_t kMaxBytes = 40;
  if (text.size() <= kMaxBytes) return absl::StrCat("\"", absl::Utf8SafeCHexEscape(text), "\"");
  std::size_t cut = kMaxBytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not inside a UTF-8 character
  return absl::StrCat("\"", absl::Utf8SafeCHexEscape(text.substr(0, cut)), "…\"");
}

}  // namespace embd::cli

#include "server/config/scalar_syntax.h"

#include <cmath>
#include <limits>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/charconv.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace embd::config {
namespace {

bool IsDigits(absl::string_view text) {
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return !text.empty();
}

}  // namespace

std::optional<std::int64_t> ParseInteger(absl::string_view text) {
  absl::string_view digits = text;
  if (!absl::ConsumePrefix(&digits, "-")) absl::ConsumePrefix(&digits, "+");
  std::int64_t value = 0;
  // SimpleAtoi alone would take white space around the number.
  if (!IsDigits(digits) || !absl::SimpleAtoi(text, &value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> ParseUnsigned(absl::string_view text) {
  std::uint64_t value = 0;
  if (!IsDigits(text) || !absl::SimpleAtoi(text, &value)) return std::nullopt;
  return value;
}

std::optional<double> ParseNumber(absl::string_view text) {
  // from_chars alone would take hexadecimal numbers, nan and inf.
  if (text.find_first_not_of("0123456789+-.eE") != absl::string_view::npos) return std::nullopt;
  if (absl::ConsumePrefix(&text, "+") && absl::StartsWith(text, "-")) return std::nullopt;
  double value = 0.0;
  const auto result = absl::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = !text.empty() && result.ptr == text.data() + text.size();
  if (!whole || result.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> ParseByteSize(absl::string_view text) {
  constexpr struct {
    absl::string_view suffix;
    std::int64_t bytes = 0;
  } kUnits[] = {{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
                {"KB", 1000},     {"MB", 1000000},  {"GB", 1000000000}};
  std::int64_t unit = 1;
  for (const auto& [suffix, bytes] : kUnits) {
    if (!absl::ConsumeSuffix(&text, suffix)) continue;
    unit = bytes;
    absl::ConsumeSuffix(&text, " ");
    break;
  }
  const auto count = ParseInteger(text);
  if (!count.has_value() || *count < 0 || *count > std::numeric_limits<std::int64_t>::max() / unit) {
    return std::nullopt;
  }
  return *count * unit;
}

std::optional<double> ParseSeconds(absl::string_view text) {
  constexpr struct {
    absl::string_view suffix;
    double seconds = 0;
  } kUnits[] = {{"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}};
  double unit = 1.0;
  for (const auto& [suffix, seconds] : kUnits) {
    if (!absl::ConsumeSuffix(&text, suffix)) continue;
    unit = seconds;
    break;
  }
  const auto count = ParseNumber(text);
  if (!count.has_value()) return std::nullopt;
  return *count * unit;
}

}  // namespace embd::config

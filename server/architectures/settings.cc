#include "server/architectures/settings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::architectures {
namespace {

constexpr std::size_t kMostShown = 64;  // bytes

// A value as it stands in the file, short enough for a message.
std::string Shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return core::Quote(value.get_ref<const std::string&>());
  const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() <= kMostShown ? text : absl::StrCat(text.substr(0, kMostShown), "…");
}

bool FitsInt64(const nlohmann::json& value) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return !value.is_number_unsigned() || value.get<std::uint64_t>() <= kMax;
}

}  // namespace

std::string KeyText(absl::string_view key) {
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < '\x7F' && c != '"'; });
  return plain && !key.empty() && key.size() <= kMostShown ? std::string(key) : core::Quote(key);
}

const nlohmann::json* Settings::Find(absl::string_view key) const {
  const auto found = object_->find(std::string(key));
  return found == object_->end() ? nullptr : &*found;
}

bool Settings::Has(absl::string_view key) const {
  const nlohmann::json* const value = Find(key);
  return value != nullptr && !value->is_null();
}

bool Settings::IsNull(absl::string_view key) const {
  const nlohmann::json* const value = Find(key);
  return value != nullptr && value->is_null();
}

bool Settings::HasObject(absl::string_view key) const {
  const nlohmann::json* const value = Find(key);
  return value != nullptr && value->is_object();
}

std::vector<std::string> Settings::KeyNames() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : object_->items()) names.push_back(key);
  return names;
}

std::string Settings::Place(absl::string_view key) const { return absl::StrCat(prefix_, KeyText(key)); }

std::string Settings::Source(absl::string_view key) const {
  const nlohmann::json* const value = Find(key);
  return value == nullptr ? Place(key) : absl::StrCat(Place(key), " = ", Shown(*value));
}

void Settings::ReportType(absl::string_view key, absl::string_view wanted) const {
  fault_->Report(core::InvalidArgument("INVALID_FILE",
                                       absl::StrCat(Place(key), ": must be ", wanted, ", got ", Shown(*Find(key)))));
}

absl::string_view Settings::FirstOf(Keys keys) const {
  for (const absl::string_view key : keys) {
    if (Find(key) != nullptr) return key;
  }
  return {};
}

std::optional<Sourced<std::int64_t>> Settings::Integer(absl::string_view key, std::int64_t min) const {
  if (!Has(key)) return std::nullopt;
  const nlohmann::json& value = *Find(key);
  if (!value.is_number_integer() || !FitsInt64(value)) {
    ReportType(key, "an integer");
  } else if (value.get<std::int64_t>() < min) {
    ReportType(key, absl::StrCat("an integer >= ", min));
  } else {
    return Sourced<std::int64_t>{value.get<std::int64_t>(), Source(key)};
  }
  return std::nullopt;
}

Sourced<std::int64_t> Settings::IntegerOr(Keys keys, std::int64_t fallback, std::int64_t min) const {
  const absl::string_view key = FirstOf(keys);
  if (key.empty()) return {fallback, kClassDefault};
  if (IsNull(key)) ReportType(key, "an integer");
  return Integer(key, min).value_or(Sourced<std::int64_t>{fallback, kClassDefault});
}

std::optional<Sourced<double>> Settings::Number(absl::string_view key) const {
  if (!Has(key)) return std::nullopt;
  const nlohmann::json& value = *Find(key);
  if (value.is_number() && std::isfinite(value.get<double>())) {
    return Sourced<double>{value.get<double>(), Source(key)};
  }
  ReportType(key, "a finite number");
  return std::nullopt;
}

Sourced<double> Settings::NumberOr(Keys keys, double fallback) const {
  const absl::string_view key = FirstOf(keys);
  if (key.empty()) return {fallback, kClassDefault};
  if (IsNull(key)) ReportType(key, "a finite number");
  return Number(key).value_or(Sourced<double>{fallback, kClassDefault});
}

std::optional<Sourced<bool>> Settings::Flag(absl::string_view key) const {
  if (!Has(key)) return std::nullopt;
  const nlohmann::json& value = *Find(key);
  if (value.is_boolean()) return Sourced<bool>{value.get<bool>(), Source(key)};
  ReportType(key, "true or false");
  return std::nullopt;
}

Sourced<bool> Settings::FlagOr(absl::string_view key, bool fallback) const {
  if (IsNull(key)) ReportType(key, "true or false");
  return Flag(key).value_or(Sourced<bool>{fallback, kClassDefault});
}

std::optional<Sourced<std::string>> Settings::Text(absl::string_view key) const {
  if (!Has(key)) return std::nullopt;
  const nlohmann::json& value = *Find(key);
  if (value.is_string()) return Sourced<std::string>{value.get<std::string>(), Source(key)};
  ReportType(key, "a string");
  return std::nullopt;
}

std::vector<double> Settings::Numbers(absl::string_view key) const {
  if (!Has(key)) return {};
  const nlohmann::json& value = *Find(key);
  std::vector<double> numbers;
  for (const nlohmann::json& each : value.is_array() ? value : nlohmann::json::array()) {
    if (each.is_number() && std::isfinite(each.get<double>())) numbers.push_back(each.get<double>());
  }
  if (!value.is_array() || numbers.size() != value.size()) ReportType(key, "a list of finite numbers");
  return numbers;
}

std::optional<Settings> Settings::Object(absl::string_view key) const {
  if (!Has(key)) return std::nullopt;
  const nlohmann::json& value = *Find(key);
  if (value.is_object()) return Settings(value, absl::StrCat(Place(key), "."), fault_);
  ReportType(key, "an object");
  return std::nullopt;
}

}  // namespace embd::architectures

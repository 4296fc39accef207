#include "client/cli/render/json_text.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace embd::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string ScalarText(const Json& value) {
  if (value.is_number_float()) {  // the library writes null for these
    const auto number = value.get<double>();
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  }
  return value.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
}

void Append(const Json& value, const std::string& line_start, std::string& out) {
  if (!value.is_structured() || value.empty()) {
    out += ScalarText(value);
    return;
  }
  const std::string inner = line_start + "  ";
  out += value.is_object() ? '{' : '[';
  const char* separator = "";
  for (const auto& [key, element] : value.items()) {
    out += separator + inner;
    if (value.is_object()) out += ScalarText(key) + ": ";
    Append(element, inner, out);
    separator = ",";
  }
  out += line_start;
  out += value.is_object() ? '}' : ']';
}

}  // namespace

std::string JsonText(const Json& value) {
  std::string text;
  Append(value, "\n", text);
  return text;
}

}  // namespace embd::cli

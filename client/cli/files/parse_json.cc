#include "client/cli/files/parse_json.h"

namespace embd::cli {

nlohmann::json ParseJson(absl::string_view text) {
  using Json = nlohmann::json;
  if (text.find('\0') != absl::string_view::npos) return Json(Json::value_t::discarded);
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

}  // namespace embd::cli

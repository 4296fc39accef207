#include "server/architectures/gguf_settings.h"

#include <string>
#include <type_traits>
#include <variant>

#include "absl/strings/match.h"

namespace embd::architectures {

nlohmann::json GgufObject(const formats::GgufMetadata& metadata, absl::string_view prefix) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [key, value] : metadata) {
    if (!absl::StartsWith(key, prefix)) continue;
    std::visit(
        [&, name = key.substr(prefix.size())](const auto& each) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(each)>, formats::GgufSkipped>) object[name] = each;
        },
        value);
  }
  return object;
}

}  // namespace embd::architectures

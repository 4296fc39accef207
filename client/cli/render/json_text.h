#ifndef EMBD_CLIENT_CLI_RENDER_JSON_TEXT_H_
#define EMBD_CLIENT_CLI_RENDER_JSON_TEXT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace embd::cli {

/// The value as Python's json.dumps(value, indent=2, ensure_ascii=False) writes it: numbers that are not finite become
/// NaN, Infinity and -Infinity. Bytes that are no UTF-8 are replaced. `value` nests as deep as the stack allows.
[[nodiscard]] std::string JsonText(const nlohmann::ordered_json& value);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_RENDER_JSON_TEXT_H_

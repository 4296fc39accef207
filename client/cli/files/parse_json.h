#ifndef EMBD_CLIENT_CLI_FILES_PARSE_JSON_H_
#define EMBD_CLIENT_CLI_FILES_PARSE_JSON_H_

#include <nlohmann/json.hpp>

#include "absl/strings/string_view.h"

namespace embd::cli {

/// The one JSON value that `text` is, or a discarded one (`is_discarded()`): also for a zero byte, which nlohmann's
/// parser takes for the end of the text, whatever follows.
[[nodiscard]] nlohmann::json ParseJson(absl::string_view text);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_FILES_PARSE_JSON_H_

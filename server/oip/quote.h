#ifndef EMBD_SERVER_OIP_QUOTE_H_
#define EMBD_SERVER_OIP_QUOTE_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/strings/string_view.h"

namespace embd::oip {

/// `text` in single quotes, as Triton's sentences have names; escaped and cut like core::Quote.
[[nodiscard]] std::string InQuotes(absl::string_view text);

/// Extents as Triton's sentences have them: "[2,-1]"; of more than 16, the first ones and "…".
[[nodiscard]] std::string InBrackets(std::span<const std::int64_t> shape);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_QUOTE_H_

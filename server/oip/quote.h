#ifndef EMBD_SERVER_OIP_QUOTE_H_
#define EMBD_SERVER_OIP_QUOTE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace embd::oip {

/// `text` in single quotes, as Triton's sentences have names; escaped and cut like core::Quote.
[[nodiscard]] std::string InQuotes(absl::string_view text);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_QUOTE_H_

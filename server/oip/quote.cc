#include "server/oip/quote.h"

#include "server/core/error.h"

namespace embd::oip {

std::string InQuotes(absl::string_view text) {
  std::string quoted = core::Quote(text);
  quoted.front() = '\'';
  quoted.back() = '\'';
  return quoted;
}

}  // namespace embd::oip

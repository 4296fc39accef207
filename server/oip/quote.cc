#include "server/oip/quote.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"

namespace embd::oip {

std::string InQuotes(absl::string_view text) {
  std::string quoted = core::Quote(text);
  quoted.front() = '\'';
  quoted.back() = '\'';
  return quoted;
}

std::string InBrackets(std::span<const std::int64_t> shape) {
  constexpr std::size_t kMostExtents = 16;
  const bool is_cut = shape.size() > kMostExtents;
  const auto shown = shape.first(is_cut ? kMostExtents : shape.size());
  return absl::StrCat("[", absl::StrJoin(shown, ","), is_cut ? ",…]" : "]");
}

}  // namespace embd::oip

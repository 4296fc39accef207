#include "server/architectures/families/heads.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace embd::architectures {

Sourced<std::int64_t> HeadDim(Draft* draft, const HeadKeys& keys) {
  const Settings& settings = draft->settings();
  if (!keys.head_dim_key.empty()) {
    if (auto stated = settings.Integer(keys.head_dim_key)) return *std::move(stated);
    const bool is_default = keys.head_dim > 0 && !settings.IsNull(keys.head_dim_key);
    if (is_default) return {keys.head_dim, kClassDefault};
  }
  const auto heads = settings.IntegerOr({keys.heads_key}, keys.heads);
  const auto width = settings.Integer(keys.width_key);
  const std::int64_t elements = width.has_value() ? width->value : draft->width();
  if (elements == 0) {
    draft->RefuseFile(absl::StrCat(settings.Place(keys.width_key), " is missing, from which head_dim follows"));
  }
  return {std::max<std::int64_t>(elements / heads.value, 1),
          absl::StrCat("width ", elements, " / ", heads.value, " heads")};
}

RotaryFacts FactsOf(const Draft* draft, Sourced<std::int64_t> head_dim, const Sourced<std::int64_t>& length) {
  RotaryFacts facts{.head_dim = std::move(head_dim),
                    .max_position_embeddings = length,
                    .key = "position.rotary",
                    .architecture = draft->architecture()};
  const auto& position = draft->given().position;
  if (position.has_value()) {
    const auto* const given = std::get_if<config::RotaryPositions>(&*position);
    facts.skip_scaling = given != nullptr && given->scaling.has_value();
  }
  return facts;
}

}  // namespace embd::architectures

#include "server/architectures/families/side_names.h"

#include "absl/strings/str_cat.h"

namespace embd::architectures {

absl::string_view SideName(config::Side side) { return side == config::Side::kEncoder ? "encoder" : "decoder"; }

Names SideNames(config::Side side, absl::string_view name) {
  const std::string own = absl::StrCat(SideName(side), ".", name);
  return {own, absl::StrCat("model.", own)};
}

Names SharedNames(std::optional<config::Side> side) {
  Names names = {"shared.weight", "model.shared.weight"};
  for (const config::Side each : {config::Side::kEncoder, config::Side::kDecoder}) {
    if (side.value_or(each) != each) continue;
    for (const std::string& name : SideNames(each, "embed_tokens.weight")) names.push_back(name);
  }
  return names;
}

void ScaleWhereSaid(Draft* draft, bool fallback) {
  const auto scaled = draft->settings().FlagOr("scale_embedding", fallback);
  if (scaled.value) draft->ScaleBySqrtDim(/*weight_dtype=*/false, scaled.source);
}

}  // namespace embd::architectures

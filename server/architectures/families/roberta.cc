#include <array>

#include "server/architectures/families/encoder_table.h"
#include "server/architectures/families/families.h"

namespace embd::architectures {
namespace {

/// What differs between RoBERTa and its nearest kin.
struct RobertaKin {
  absl::string_view model_type;
  absl::string_view prefix;
  config::SumOrder order = config::SumOrder::kTypeFirst;
  bool has_types = true;
  bool may_be_relative = true;
  bool padding_is_one = false;  ///< whatever pad_token_id says
};

constexpr std::array<RobertaKin, 5> kKin = {{
    {"roberta", "roberta"},
    {"xlm-roberta", "roberta"},
    {"camembert", "roberta"},
    {"longformer", "longformer", config::SumOrder::kPositionFirst, true, false},
    {"mpnet", "mpnet", config::SumOrder::kPositionFirst, false, false, true},
}};

}  // namespace

bool InferRoberta(Draft* draft) {
  for (const RobertaKin& kin : kKin) {
    if (kin.model_type != draft->model_type()) continue;
    EncoderTokens(draft, kin.prefix, "hidden_size");
    if (kin.padding_is_one) {
      draft->PaddingIs(1);
    } else {
      draft->Padding(1, /*numbers_positions=*/true);
    }
    if (kin.has_types) EncoderTypes(draft, kin.prefix);
    EncoderPositions(draft, kin.prefix, kin.may_be_relative);
    draft->Numbered(config::Numbering::kPadding);
    draft->Order(kin.order);
    EncoderNorm(draft, kin.prefix, draft->settings().NumberOr({"layer_norm_eps"}, 1e-12));
    EncoderOutput(draft, {"lm_head.bias", "lm_head.decoder.bias"});
    return true;
  }
  return false;
}

}  // namespace embd::architectures

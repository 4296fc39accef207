#include <array>

#include "absl/strings/str_cat.h"
#include "server/architectures/families/encoder_table.h"
#include "server/architectures/families/families.h"

namespace embd::architectures {
namespace {

/// What differs between BERT and its nearest kin.
struct BertKin {
  absl::string_view model_type;
  absl::string_view prefix;
  absl::string_view head;  ///< whose bias is that of the output
  absl::string_view width_key = "hidden_size";
  bool may_be_relative = true;
};

constexpr std::array<BertKin, 4> kKin = {{
    {"bert", "bert", "cls.predictions"},
    {"electra", "electra", "generator_lm_head", "embedding_size"},
    {"albert", "albert", "predictions", "embedding_size"},
    {"big_bird", "bert", "cls.predictions", "hidden_size", false},
}};

// The layers of ELECTRA and ALBERT take another width than the input stage has.
void NoteProjection(Draft* draft) {
  const auto hidden = draft->settings().Integer("hidden_size");
  if (draft->width() == 0 || !hidden.has_value() || hidden->value == draft->width()) return;
  draft->Note(absl::StrCat("the model projects these vectors from ", draft->width(), " to ", hidden->value,
                           " elements before its first layer; the projection is not part of the input stage"));
}

void ScaleBigBird(Draft* draft) {
  const auto scaled = draft->settings().FlagOr("rescale_embeddings", false);
  if (scaled.value) draft->ScaleBySqrtDim(/*weight_dtype=*/false, scaled.source);
}

}  // namespace

bool InferBert(Draft* draft) {
  for (const BertKin& kin : kKin) {
    if (kin.model_type != draft->model_type()) continue;
    EncoderTokens(draft, kin.prefix, kin.width_key);
    if (kin.model_type == "big_bird") ScaleBigBird(draft);
    draft->Padding(0);
    EncoderTypes(draft, kin.prefix);
    EncoderPositions(draft, kin.prefix, kin.may_be_relative);
    draft->Numbered(config::Numbering::kFixed);
    draft->Order(config::SumOrder::kTypeFirst);
    EncoderNorm(draft, kin.prefix, draft->settings().NumberOr({"layer_norm_eps"}, 1e-12));
    NoteProjection(draft);
    EncoderOutput(draft, {absl::StrCat(kin.head, ".bias"), absl::StrCat(kin.head, ".decoder.bias")});
    return true;
  }
  return false;
}

}  // namespace embd::architectures

#include "absl/strings/str_cat.h"
#include "server/architectures/families/families.h"

namespace embd::architectures {
namespace {

// The first two rows of both tables are not for tokens.
constexpr std::int64_t kOffset = 2;

// OPT's projection stands before the position is added.
void RefuseProjection(Draft* draft) {
  const auto embedding = draft->settings().Integer("word_embed_proj_dim");
  const auto hidden = draft->settings().Integer("hidden_size");
  if (!embedding.has_value() || !hidden.has_value() || embedding->value == hidden->value) return;
  if (draft->GivenPositionIsNo<config::LearnedPositions>()) {
    return draft->Note(absl::StrCat("the model projects these vectors from ", embedding->value, " to ", hidden->value,
                                    " elements before it adds positions"));
  }
  draft->Refuse(absl::StrCat(embedding->source, " and ", hidden->source,
                             ": token rows are projected before positions are added, which is not served; for token "
                             "rows alone, say position: none"));
}

void Opt(Draft* draft) {
  const Settings& settings = draft->settings();
  RefuseProjection(draft);
  auto columns = settings.Integer("word_embed_proj_dim");
  if (!columns.has_value()) columns = settings.Integer("hidden_size");
  draft->Token(Prefixed({"", "model."}, {"decoder.embed_tokens.weight"}), {settings.Integer("vocab_size"), columns},
               draft->Tied(true));
  draft->Padding(1);
  draft->Learned(Prefixed({"", "model."}, {"decoder.embed_positions.weight"}),
                 settings.Integer("max_position_embeddings"), kOffset);
  draft->Numbered(config::Numbering::kMask, kOffset);
}

void BioGpt(Draft* draft) {
  const Settings& settings = draft->settings();
  draft->Token(Prefixed({"", "biogpt."}, {"embed_tokens.weight"}),
               {settings.Integer("vocab_size"), settings.Integer("hidden_size")}, /*tied=*/false);
  draft->Tied(true);
  const auto scaled = settings.FlagOr("scale_embedding", true);
  if (scaled.value) draft->ScaleBySqrtDim(/*weight_dtype=*/false, scaled.source);
  draft->Padding(1);
  draft->Learned(Prefixed({"", "biogpt."}, {"embed_positions.weight"}), settings.Integer("max_position_embeddings"),
                 kOffset);
  draft->Numbered(config::Numbering::kMask, kOffset);
}

}  // namespace

bool InferMaskNumbered(Draft* draft) {
  const std::string& type = draft->model_type();
  if (type == "opt") {
    Opt(draft);
  } else if (type == "biogpt") {
    BioGpt(draft);
  } else {
    return false;
  }
  return true;
}

}  // namespace embd::architectures

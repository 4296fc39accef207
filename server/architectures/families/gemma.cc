#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/architectures/families/families.h"
#include "server/architectures/families/heads.h"
#include "server/core/error.h"

namespace embd::architectures {
namespace {

void Tokens(Draft* draft, const Settings& settings, const Names& names) {
  draft->Token(names, {settings.Integer("vocab_size"), settings.Integer("hidden_size")}, draft->Tied(true));
  draft->ScaleBySqrtDim(/*weight_dtype=*/true, draft->architecture());
  constexpr absl::string_view kSoftcap = "final_logit_softcapping";
  if (const auto softcap = settings.Number(kSoftcap)) {
    if (draft->model_type() != "gemma") draft->OutputSoftcap(*softcap);
  } else if (draft->model_type() == "gemma2" && !settings.IsNull(kSoftcap)) {
    draft->OutputSoftcap({30.0, kClassDefault});
  }
}

void Gemma(Draft* draft, std::int64_t heads) {
  const Settings& settings = draft->settings();
  Tokens(draft, settings, Prefixed({"", "model."}, {"embed_tokens.weight"}));
  draft->Padding(0);
  const auto length = settings.IntegerOr({"max_position_embeddings"}, 8192);
  draft->Trained(length);
  if (draft->GivenPositionIsNo<config::RotaryPositions>()) return;
  const auto head_dim = HeadDim(draft, {.heads = heads, .head_dim = 256});
  draft->Rotary(ReadRotary(settings, {}, FactsOf(draft, head_dim, length), draft->found(), draft->fault()));
}

void Gemma3(Draft* draft) {
  const Settings& settings = draft->settings();
  Tokens(draft, settings,
         Prefixed({"", "model.", "language_model.model.", "model.language_model."}, {"embed_tokens.weight"}));
  draft->Padding(0);
  const auto length = settings.IntegerOr({"max_position_embeddings"}, 131072);
  draft->Trained(length);
  if (draft->GivenPositionIsNo<config::RotaryPositions>()) return;
  const RotaryKeys full = {.theta = 1e6};
  const RotaryKeys sliding = {.theta_key = "rope_local_base_freq", .theta = 10000.0};
  const auto head_dim = HeadDim(draft, {.heads = 8, .head_dim = 256});
  draft->Rotary(ReadLayeredRotary(settings, full, sliding, /*scaling_on_sliding=*/false,
                                  FactsOf(draft, head_dim, length), draft->found(), draft->fault()));
}

}  // namespace

bool InferGemma(Draft* draft) {
  const std::string& type = draft->model_type();
  if (type == "gemma" || type == "gemma2") {
    Gemma(draft, type == "gemma" ? 16 : 8);
  } else if (type == "gemma3" || type == "gemma3_text") {
    Gemma3(draft);
  } else if (absl::StartsWith(type, "gemma3n") || absl::StartsWith(type, "gemma4")) {
    draft->Refuse(
        absl::StrCat("config.json: model_type = ", core::Quote(type), " has embeddings for each layer besides those ",
                     "at the input, which are not served; for the rows at the input alone, spell the model ",
                     "out with token: { file: …, tensor: …, scale: sqrt_dim, scale_rounding: weight_dtype }"));
  } else {
    return false;
  }
  return true;
}

}  // namespace embd::architectures

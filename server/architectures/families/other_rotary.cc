#include <variant>

#include "absl/strings/str_cat.h"
#include "server/architectures/families/families.h"
#include "server/architectures/families/heads.h"

namespace embd::architectures {
namespace {

bool GivesTheta(const Draft& draft) {
  const auto& position = draft.given().position;
  const auto* const given = position.has_value() ? std::get_if<config::RotaryPositions>(&*position) : nullptr;
  return given != nullptr && given->theta.has_value();
}

void Rotary(Draft* draft, const RotaryKeys& keys, const HeadKeys& head, const Sourced<std::int64_t>& length) {
  draft->Trained(length);
  if (draft->GivenPositionIsNo<config::RotaryPositions>()) return;
  draft->Rotary(ReadRotary(draft->settings(), keys, FactsOf(draft, HeadDim(draft, head), length), draft->found(),
                           draft->fault()));
}

void GptNeoX(Draft* draft) {
  const Settings& settings = draft->settings();
  draft->Token(Prefixed({"", "gpt_neox."}, {"embed_in.weight"}),
               {settings.Integer("vocab_size"), settings.Integer("hidden_size")}, /*tied=*/false);
  draft->Tied(false);
  const RotaryKeys keys = {.theta_key = settings.Has("rotary_emb_base") ? "rotary_emb_base" : "rope_theta",
                           .partial_key = settings.Has("rotary_pct") ? "rotary_pct" : "partial_rotary_factor",
                           .partial = 0.25};
  Rotary(draft, keys, {.heads = 64, .head_dim_key = ""}, settings.IntegerOr({"max_position_embeddings"}, 2048));
}

// The number of components that are turned is its own setting here.
void GptJ(Draft* draft) {
  const Settings& settings = draft->settings();
  auto columns = settings.Integer("n_embd");
  if (!columns.has_value()) columns = settings.Integer("hidden_size");
  draft->Token(Prefixed({"", "transformer."}, {"wte.weight"}), {settings.Integer("vocab_size"), columns},
               draft->Tied(false));
  draft->OutputBias({"lm_head.bias"});
  draft->SharedTokenTypes();
  const auto length = settings.IntegerOr({"n_positions", "max_position_embeddings"}, 2048);
  draft->Trained(length);
  if (draft->GivenPositionIsNo<config::RotaryPositions>()) return;
  const auto head_dim = HeadDim(draft, {.heads = 16,
                                        .heads_key = settings.Has("n_head") ? "n_head" : "num_attention_heads",
                                        .width_key = settings.Has("n_embd") ? "n_embd" : "hidden_size",
                                        .head_dim_key = ""});
  const auto rotary_dim = settings.IntegerOr({"rotary_dim"}, 64);
  if (rotary_dim.value > head_dim.value || rotary_dim.value % 2 != 0) {
    draft->RefuseFile(absl::StrCat("rotary_dim must be even and at most head_dim: ", rotary_dim.value, " (",
                                   rotary_dim.source, "), head_dim ", head_dim.value, " (", head_dim.source, ")"));
  }
  const RotaryKeys keys = {.theta_key = "", .partial_key = "", .interleaved = true};
  config::RotaryPositions rotary =
      ReadRotary(settings, keys, FactsOf(draft, head_dim, length), draft->found(), draft->fault());
  rotary.rotary_dim = rotary_dim.value;
  draft->found()->Forget("position.rotary.rotary_dim");
  draft->found()->Add("position.rotary.rotary_dim", rotary_dim.value, rotary_dim.source);
  draft->Rotary(rotary);
}

void Falcon(Draft* draft) {
  const Settings& settings = draft->settings();
  const absl::string_view width_key = settings.Has("n_embed") ? "n_embed" : "hidden_size";
  draft->Token(Prefixed({"", "transformer."}, {"word_embeddings.weight"}),
               {settings.Integer("vocab_size"), settings.Integer(width_key)}, draft->Tied(true));
  Rotary(draft, {}, {.heads = 71, .width_key = width_key, .head_dim_key = ""},
         settings.IntegerOr({"max_position_embeddings"}, 2048));
}

void Qwen(Draft* draft) {
  const Settings& settings = draft->settings();
  draft->Token(Prefixed({"", "transformer."}, {"wte.weight"}),
               {settings.Integer("vocab_size"), settings.Integer("hidden_size")}, draft->Tied(false));
  const RotaryKeys keys = {.theta_key = "rotary_emb_base", .partial_key = "rotary_pct"};
  Rotary(draft, keys, {.head_dim_key = "kv_channels", .head_dim = 128},
         settings.IntegerOr({"seq_length", "max_position_embeddings"}, 8192));
  const auto ntk = settings.FlagOr("use_dynamic_ntk", false);
  if (!ntk.value) return;
  draft->Note(absl::StrCat(ntk.source,
                           ": beyond the length trained for the model changes its rotary frequencies in a "
                           "way of its own, which is not part of this encoding"));
}

void ChatGlm(Draft* draft) {
  const Settings& settings = draft->settings();
  if (settings.FlagOr("position_encoding_2d", false).value && !draft->given().position.has_value()) {
    draft->Refuse(absl::StrCat(settings.Source("position_encoding_2d"), " is not served; say position: none"));
  }
  draft->Token(Prefixed({"", "transformer."}, {"embedding.word_embeddings.weight"}),
               {settings.Integer("padded_vocab_size"), settings.Integer("hidden_size")}, draft->Tied(false));
  const auto ratio = settings.NumberOr({"rope_ratio"}, 1.0);
  if (ratio.value != 1.0 && !GivesTheta(*draft) && !draft->GivenPositionIsNo<config::RotaryPositions>()) {
    draft->Refuse(absl::StrCat(ratio.source,
                               " means different things in different releases; say position: { rotary: { "
                               "theta: … } }"));
  }
  const RotaryKeys keys = {.theta_key = "", .partial_key = "", .partial = 0.5, .interleaved = true};
  Rotary(draft, keys, {.head_dim_key = "kv_channels", .head_dim = 128}, settings.IntegerOr({"seq_length"}, 2048));
}

}  // namespace

bool InferOtherRotary(Draft* draft) {
  const std::string& type = draft->model_type();
  if (type == "gpt_neox") {
    GptNeoX(draft);
  } else if (type == "gptj" || type == "codegen") {
    GptJ(draft);
  } else if (type == "falcon") {
    Falcon(draft);
  } else if (type == "qwen") {
    Qwen(draft);
  } else if (type == "chatglm") {
    ChatGlm(draft);
  } else {
    return false;
  }
  return true;
}

}  // namespace embd::architectures

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/architectures/families/encoder_table.h"
#include "server/architectures/families/families.h"
#include "server/architectures/families/heads.h"

namespace embd::architectures {
namespace {

void DistilBert(Draft* draft) {
  const Settings& settings = draft->settings();
  auto columns = settings.Integer("dim");
  if (!columns.has_value()) columns = settings.Integer("hidden_size");
  draft->Token(EncoderNames("distilbert", "word_embeddings.weight"), {settings.Integer("vocab_size"), columns},
               /*tied=*/false);
  draft->Padding(0);
  EncoderPositions(draft, "distilbert", /*may_be_relative=*/false);
  draft->Numbered(config::Numbering::kFixed);
  EncoderNorm(draft, "distilbert", {1e-12, draft->architecture()});
  EncoderOutput(draft, {"vocab_projector.bias"});
}

// DeBERTa's projection stands between the sum and LayerNorm.
void RefuseProjection(Draft* draft) {
  const auto embedding = draft->settings().Integer("embedding_size");
  const auto hidden = draft->settings().Integer("hidden_size");
  if (!embedding.has_value() || !hidden.has_value() || embedding->value == hidden->value) return;
  const auto& norm = draft->given().layer_norm;
  if (norm.has_value() && std::holds_alternative<config::Absent>(*norm)) {
    return draft->Note(absl::StrCat("the model projects these vectors from ", embedding->value, " to ", hidden->value,
                                    " elements and normalises them before its first layer"));
  }
  draft->Refuse(absl::StrCat(embedding->source, " and ", hidden->source,
                             ": a projection stands before LayerNorm, and is not served; for the sum before it, say "
                             "layer_norm: none"));
}

void Deberta(Draft* draft) {
  const Settings& settings = draft->settings();
  RefuseProjection(draft);
  EncoderTokens(draft, "deberta", settings.Has("embedding_size") ? "embedding_size" : "hidden_size");
  draft->Padding(0);
  const auto biased = settings.FlagOr("position_biased_input", true);
  if (biased.value) {
    EncoderPositions(draft, "deberta", /*may_be_relative=*/false);
    draft->Numbered(config::Numbering::kFixed);
  } else {
    draft->NoPosition(biased.source);
  }
  if (settings.IntegerOr({"type_vocab_size"}, 0, /*min=*/0).value > 0) EncoderTypes(draft, "deberta");
  draft->Order(config::SumOrder::kPositionFirst);
  EncoderNorm(draft, "deberta", settings.NumberOr({"layer_norm_eps"}, 1e-7));
  EncoderOutput(draft, {"cls.predictions.bias", "lm_predictions.lm_head.bias"});
  draft->ZeroMasked();
}

void ModernBert(Draft* draft) {
  const Settings& settings = draft->settings();
  draft->Token(Prefixed({"", "model."}, {"embeddings.tok_embeddings.weight"}),
               {settings.Integer("vocab_size"), settings.Integer("hidden_size")}, /*tied=*/false);
  EncoderOutput(draft, {"decoder.bias"});
  draft->Padding(50283);
  std::optional<Names> biases;
  if (settings.FlagOr("norm_bias", false).value) biases = Prefixed({"", "model."}, {"embeddings.norm.bias"});
  draft->Norm(Prefixed({"", "model."}, {"embeddings.norm.weight"}), biases, settings.NumberOr({"norm_eps"}, 1e-5));
  const auto length = settings.IntegerOr({"max_position_embeddings"}, 8192);
  draft->Trained(length);
  if (draft->GivenPositionIsNo<config::RotaryPositions>()) return;
  const RotaryKeys full = {.theta_key = "global_rope_theta", .theta = 160000.0};
  RotaryKeys sliding = {.theta_key = "local_rope_theta", .theta = 10000.0};
  if (settings.IsNull("local_rope_theta")) sliding = full;
  draft->Rotary(ReadLayeredRotary(settings, full, sliding, /*scaling_on_sliding=*/true,
                                  FactsOf(draft, HeadDim(draft, {.heads = 12}), length), draft->found(),
                                  draft->fault()));
}

void TokenDropout(Draft* draft) {
  const auto dropout = draft->settings().FlagOr("token_dropout", false);
  if (!dropout.value) return;
  const auto mask_id = draft->settings().Integer("mask_token_id", /*min=*/0);
  if (mask_id.has_value()) return draft->TokenDropout(*mask_id);
  draft->Refuse(
      absl::StrCat(dropout.source, " needs mask_token_id, which config.json does not say; give token.dropout_mask_id"));
}

void Esm(Draft* draft) {
  const Settings& settings = draft->settings();
  TokenDropout(draft);
  EncoderTokens(draft, "esm", "hidden_size");
  EncoderOutput(draft, {"lm_head.bias"});
  const auto type = settings.Text("position_embedding_type").value_or(Sourced<std::string>{"absolute", kClassDefault});
  if (type.value == "absolute") {
    draft->Padding(std::nullopt, /*numbers_positions=*/true);
    EncoderPositions(draft, "esm", /*may_be_relative=*/false);
    draft->Numbered(config::Numbering::kPadding);
  } else if (type.value == "rotary") {
    draft->Padding(std::nullopt);
    if (!draft->GivenPositionIsNo<config::RotaryPositions>()) {
      const auto length = settings.IntegerOr({"max_position_embeddings"}, 1026);
      draft->Rotary(ReadRotary(settings, {.theta_key = "", .partial_key = ""},
                               FactsOf(draft, HeadDim(draft, {.heads = 12, .head_dim_key = ""}), length),
                               draft->found(), draft->fault()));
    }
  } else if (!draft->given().position.has_value()) {
    draft->Refuse(absl::StrCat(type.source, " is not served; absolute and rotary are; say position: none"));
  }
  const auto norm_before = settings.Flag("emb_layer_norm_before");
  if (norm_before.has_value() && norm_before->value) {
    draft->Norm(EncoderNames("esm", "layer_norm.weight"), EncoderNames("esm", "layer_norm.bias"),
                settings.NumberOr({"layer_norm_eps"}, 1e-12));
  }
  draft->ZeroMasked();
}

}  // namespace

bool InferOtherEncoder(Draft* draft) {
  const std::string& type = draft->model_type();
  if (type == "distilbert") {
    DistilBert(draft);
  } else if (type == "deberta" || type == "deberta-v2") {
    Deberta(draft);
  } else if (type == "modernbert") {
    ModernBert(draft);
  } else if (type == "esm") {
    Esm(draft);
  } else {
    return false;
  }
  return true;
}

}  // namespace embd::architectures

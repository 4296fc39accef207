#include <array>

#include "absl/strings/str_cat.h"
#include "server/architectures/families/families.h"
#include "server/architectures/families/heads.h"

namespace embd::architectures {
namespace {

constexpr char kTokens[] = "token_embd.weight";

/// What differs between the rotary decoders of GGUF files.
struct GgufRotary {
  absl::string_view architecture;
  bool interleaved = false;  ///< the converter has reordered queries and keys
  bool scaled = false;       ///< token rows are multiplied by sqrt(width)
  bool layered = false;      ///< layers of a sliding window have an encoding of their own
};

constexpr std::array<GgufRotary, 9> kRotary = {{
    {.architecture = "llama", .interleaved = true},
    {.architecture = "qwen2"},
    {.architecture = "qwen3"},
    {.architecture = "phi2"},
    {.architecture = "phi3"},
    {.architecture = "gptneox"},
    {.architecture = "gemma", .scaled = true},
    {.architecture = "gemma2", .scaled = true},
    {.architecture = "gemma3", .scaled = true, .layered = true},
}};

void Tokens(Draft* draft) {
  const Settings& settings = draft->settings();
  draft->Token({kTokens}, {settings.Integer("vocab_size"), settings.Integer("embedding_length")}, /*tied=*/false);
}

// A file without a projection has its token table stand in.
void Output(Draft* draft) {
  constexpr char kProjection[] = "output.weight";
  const bool tied = !draft->tensors().Has(kProjection);
  draft->TiedIs({tied, absl::StrCat("tensor \"", kProjection, tied ? "\" is missing" : "\"")});
  const Settings& settings = draft->settings();
  if (const auto softcap = settings.Number("final_logit_softcapping")) {
    draft->OutputSoftcap(*softcap);
  } else if (draft->model_type() == "gemma2") {
    draft->OutputSoftcap({30.0, kClassDefault});
  }
}

// Some files keep divisors of the frequencies as tensors, where an encoding has them in its scaling.
void RefuseFrequencyTensors(Draft* draft) {
  for (const std::string name : {"rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight"}) {
    if (!draft->tensors().Has(name)) continue;
    return draft->Refuse(absl::StrCat("tensor \"", name,
                                      "\" changes the rotary frequencies, which is not served; say "
                                      "what it stands for as position: { rotary: { scaling: { type: … } } }"));
  }
}

// The scaling of all layers, under the names that config.json has for it.
std::optional<config::RotaryScalingConfig> Scaling(Draft* draft) {
  const Settings& settings = draft->settings();
  const auto type = settings.Text("rope.scaling.type").value_or(Sourced<std::string>{"none", kClassDefault});
  if (type.value == "none") return std::nullopt;
  if (type.value != "linear" && type.value != "yarn") {
    draft->Refuse(absl::StrCat(type.source,
                               " is not served; none, linear and yarn are; say what is meant as position: "
                               "{ rotary: { scaling: { type: … } } }"));
    return std::nullopt;
  }
  const auto factor = settings.Number("rope.scaling.factor");
  if (!factor.has_value()) {
    draft->RefuseFile(absl::StrCat(settings.Place("rope.scaling.factor"), " is missing; ", type.source, " needs it"));
    return std::nullopt;
  }
  config::RotaryScalingConfig scaling{.type = type.value, .factor = factor->value};
  draft->found()->Add("position.rotary.scaling.type", type.value, type.source);
  draft->found()->Add("position.rotary.scaling.factor", factor->value, factor->source);
  const auto original = settings.Integer("rope.scaling.original_context_length");
  if (type.value == "yarn" && original.has_value()) {
    scaling.original_max_position_embeddings = original->value;
    draft->found()->Add("position.rotary.scaling.original_max_position_embeddings", original->value, original->source);
  } else if (type.value == "yarn") {
    draft->RefuseFile(absl::StrCat(settings.Place("rope.scaling.original_context_length"), " is missing; ", type.source,
                                   " needs it"));
  }
  return scaling;
}

// The width of a head, and how many of its components are turned.
void Widths(Draft* draft, config::RotaryPositions* rotary) {
  const Settings& settings = draft->settings();
  const auto heads = settings.Integer("attention.head_count");
  auto head_dim = settings.Integer("attention.key_length");
  if (!head_dim.has_value() && heads.has_value() && draft->width() > 0) {
    head_dim = {draft->width() / heads->value, absl::StrCat("width ", draft->width(), " / ", heads->value, " heads")};
  }
  if (!head_dim.has_value()) {
    return draft->RefuseFile(absl::StrCat(settings.Place("attention.head_count"), " is missing"));
  }
  const auto rotary_dim = settings.Integer("rope.dimension_count").value_or(*head_dim);
  rotary->head_dim = head_dim->value;
  rotary->rotary_dim = rotary_dim.value;
  draft->found()->Add("position.rotary.head_dim", head_dim->value, head_dim->source);
  draft->found()->Add("position.rotary.rotary_dim", rotary_dim.value, rotary_dim.source);
}

// Layers of a sliding window turn by a base of their own, and are not scaled.
void SlidingLayers(Draft* draft, config::RotaryPositions* rotary) {
  const auto theta = draft->settings().NumberOr({"rope.freq_base_swa"}, 10000.0);
  config::RotaryLayer& layers = rotary->layer_types["sliding_attention"];
  layers.theta = theta.value;
  if (rotary->scaling.has_value()) layers.scaling = config::RotaryScalingConfig{.type = "default"};
  rotary->layer_types["full_attention"] = {};
  draft->found()->Add("position.rotary.layer_types.sliding_attention.theta", theta.value, theta.source);
}

void Rotary(const GgufRotary& kind, Draft* draft) {
  Tokens(draft);
  Output(draft);
  if (kind.scaled) draft->ScaleBySqrtDim(/*weight_dtype=*/false, draft->architecture());
  if (const auto length = draft->settings().Integer("context_length")) draft->Trained(*length);
  if (draft->GivenPositionIsNo<config::RotaryPositions>()) return;
  const auto& position = draft->given().position;
  const auto* const given = position.has_value() ? std::get_if<config::RotaryPositions>(&*position) : nullptr;
  config::RotaryPositions rotary;
  Widths(draft, &rotary);
  const auto theta = draft->settings().NumberOr({"rope.freq_base"}, kind.layered ? 1e6 : 10000.0);
  rotary.theta = theta.value;
  rotary.interleaved = kind.interleaved;
  draft->found()->Add("position.rotary.theta", theta.value, theta.source);
  draft->found()->Add("position.rotary.pairing", kind.interleaved ? "interleaved" : "half", draft->architecture());
  if (given == nullptr || !given->scaling.has_value()) {
    RefuseFrequencyTensors(draft);
    rotary.scaling = Scaling(draft);
  }
  if (kind.layered) SlidingLayers(draft, &rotary);
  draft->Rotary(rotary);
}

void Gpt2(Draft* draft) {
  Tokens(draft);
  Output(draft);
  draft->Learned({"position_embd.weight"}, draft->settings().Integer("context_length"));
  draft->Numbered(config::Numbering::kSequential);
  draft->SharedTokenTypes();
  draft->Order(config::SumOrder::kPositionFirst);
}

// The converter has left out the rows that RoBERTa and its kin keep before the first position.
void Bert(Draft* draft) {
  const Settings& settings = draft->settings();
  Tokens(draft);
  draft->TiedIs({false, "no projection is in such a file"});
  draft->TokenTypes({"token_types.weight"}, std::nullopt);
  draft->Learned({"position_embd.weight"}, settings.Integer("context_length"));
  draft->Numbered(config::Numbering::kFixed);
  draft->Order(config::SumOrder::kTypeFirst);
  const auto eps = settings.Number("attention.layer_norm_epsilon");
  if (!eps.has_value()) draft->RefuseFile(absl::StrCat(settings.Place("attention.layer_norm_epsilon"), " is missing"));
  draft->Norm({"token_embd_norm.weight"}, Names{"token_embd_norm.bias"}, eps.value_or(Sourced<double>{0.0, ""}));
}

}  // namespace

bool InferGguf(Draft* draft) {
  if (draft->model_type() == "gpt2") {
    Gpt2(draft);
    return true;
  }
  if (draft->model_type() == "bert") {
    Bert(draft);
    return true;
  }
  for (const GgufRotary& kind : kRotary) {
    if (kind.architecture != draft->model_type()) continue;
    Rotary(kind, draft);
    return true;
  }
  return false;
}

}  // namespace embd::architectures

#include <array>

#include "absl/strings/str_cat.h"
#include "server/architectures/families/families.h"
#include "server/architectures/families/heads.h"

namespace embd::architectures {
namespace {

/// What differs between Llama and its kin; unset members are Llama's.
struct LlamaKin {
  absl::string_view model_type;
  std::int64_t positions = 2048;  ///< where max_position_embeddings is absent
  std::int64_t heads = 32;
  HeadKeys head = {};
  RotaryKeys rotary = {};
  std::optional<std::int64_t> padding = std::nullopt;
  bool tied = false;
  absl::string_view token = "embed_tokens.weight";
  absl::string_view scale_key = "";  ///< of a factor for token rows
};

constexpr std::array<LlamaKin, 17> kKin = {{
    {.model_type = "llama"},
    {.model_type = "mistral", .positions = 131072},
    {.model_type = "mixtral", .positions = 131072, .rotary = {.theta = 1e6}},
    {.model_type = "qwen2", .positions = 32768},
    {.model_type = "qwen3", .positions = 32768, .head = {.head_dim = 128}},
    {.model_type = "olmo", .padding = 1},
    {.model_type = "granite", .scale_key = "embedding_multiplier"},
    {.model_type = "internlm2", .token = "tok_embeddings.weight"},
    {.model_type = "minicpm", .tied = true, .scale_key = "scale_emb"},
    {.model_type = "phi", .rotary = {.partial = 0.5}},
    {.model_type = "phi3",
     .positions = 4096,
     .rotary = {.yarn_is_longrope = true, .original_length = 4096},
     .padding = 32000},
    {.model_type = "cohere",
     .positions = 8192,
     .heads = 64,
     .rotary = {.interleaved = true},
     .padding = 0,
     .tied = true},
    {.model_type = "glm",
     .positions = 131072,
     .head = {.head_dim = 128},
     .rotary = {.partial = 0.5, .interleaved = true},
     .padding = 151329},
    {.model_type = "deepseek_v2",
     .head = {.head_dim_key = "qk_rope_head_dim", .head_dim = 64},
     .rotary = {.interleaved = true}},
    {.model_type = "deepseek_v3",
     .positions = 4096,
     .head = {.head_dim_key = "qk_rope_head_dim", .head_dim = 64},
     .rotary = {.interleaved = true}},
    {.model_type = "stablelm", .positions = 4096, .rotary = {.partial = 0.25}},
    {.model_type = "nemotron", .positions = 4096, .heads = 48, .rotary = {.partial = 0.5}},
}};

constexpr char kOriginalTable[] = "tok_embeddings.weight";

// Llama's and Mistral's own files keep the table under another name, and pair components that stand side by side.
bool HasOriginalFiles(const LlamaKin& kin) {
  return kin.model_type == "llama" || kin.model_type == "mistral" || kin.model_type == "mixtral";
}

RotaryKeys KeysOf(const LlamaKin& kin, Draft* draft) {
  RotaryKeys keys = kin.rotary;
  if (HasOriginalFiles(kin) && draft->token_tensor() == kOriginalTable) keys.interleaved = true;
  if (kin.model_type == "deepseek_v3") keys.interleaved = draft->settings().FlagOr("rope_interleave", true).value;
  return keys;
}

// Versions of transformers disagree on what an absent key means.
void RefuseCohereWithoutTheta(Draft* draft) {
  const Settings& settings = draft->settings();
  const auto parameters = settings.Object("rope_parameters");
  const bool stated = settings.Has("rope_theta") || (parameters.has_value() && parameters->Has("rope_theta"));
  const auto& position = draft->given().position;
  const auto* const given = position.has_value() ? std::get_if<config::RotaryPositions>(&*position) : nullptr;
  if (stated || (position.has_value() && (given == nullptr || given->theta.has_value()))) return;
  draft->RefuseFile(
      "config.json: rope_theta is missing, and model_type cohere has no certain default: say position: "
      "{ rotary: { theta: … } }");
}

// What is done to scores. Granite divides; MiniCPM divides its results by the ratio of two widths.
void Output(const LlamaKin& kin, Draft* draft) {
  const Settings& settings = draft->settings();
  if (kin.model_type == "phi") draft->OutputBias({"lm_head.bias"});
  if (kin.model_type == "cohere") draft->OutputScale(settings.NumberOr({"logit_scale"}, 0.0625));
  if (kin.model_type == "granite") {
    const auto divisor = settings.NumberOr({"logits_scaling"}, 1.0);
    draft->OutputScale({1.0 / divisor.value, divisor.source});
  }
  if (kin.model_type == "minicpm" && draft->width() > 0) {
    const auto base = settings.NumberOr({"dim_model_base"}, 1.0);
    draft->OutputScale(
        {base.value / static_cast<double>(draft->width()), absl::StrCat(base.source, ", width ", draft->width())});
  }
}

void Llama(const LlamaKin& kin, Draft* draft) {
  const Settings& settings = draft->settings();
  Names names = Prefixed({"", "model."}, {kin.token});
  if (HasOriginalFiles(kin)) names.emplace_back(kOriginalTable);
  draft->Token(names, {settings.Integer("vocab_size"), settings.Integer("hidden_size")}, draft->Tied(kin.tied));
  Output(kin, draft);
  if (!kin.scale_key.empty()) {
    const auto factor = settings.NumberOr({kin.scale_key}, 1.0);
    if (factor.value != 1.0) draft->ScaleBy(factor);
  }
  draft->Padding(kin.padding);
  const auto length = settings.IntegerOr({"max_position_embeddings"}, kin.positions);
  draft->Trained(length);
  if (draft->GivenPositionIsNo<config::RotaryPositions>()) return;
  if (kin.model_type == "cohere") RefuseCohereWithoutTheta(draft);
  HeadKeys head = kin.head;
  head.heads = kin.heads;
  draft->Rotary(ReadRotary(settings, KeysOf(kin, draft), FactsOf(draft, HeadDim(draft, head), length), draft->found(),
                           draft->fault()));
}

}  // namespace

bool InferRotaryDecoder(Draft* draft) {
  for (const LlamaKin& kin : kKin) {
    if (kin.model_type != draft->model_type()) continue;
    Llama(kin, draft);
    return true;
  }
  return false;
}

}  // namespace embd::architectures

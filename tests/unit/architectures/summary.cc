#include "tests/unit/architectures/summary.h"

#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace embd::architectures {
namespace {

constexpr const char* kNumberings[] = {"sequential", "fixed", "padding", "mask"};
constexpr const char* kLayouts[] = {"interleaved", "half", "tensor2tensor"};

std::string NumberingText(const config::ModelConfig& model) {
  if (!model.numbering.has_value()) return "";
  const std::string name = kNumberings[static_cast<std::size_t>(*model.numbering)];
  return absl::StrCat("[", name, model.row_offset.value_or(0) == 0 ? "" : absl::StrCat("+", *model.row_offset), "]");
}

template <typename T>
void Add(const char* name, const std::optional<T>& value, std::string* out) {
  if (value.has_value()) absl::StrAppend(out, " ", name, " ", *value);
}

std::string ScalingText(const config::RotaryScalingConfig& scaling) {
  std::string text = absl::StrCat(" ", scaling.type, "(");
  Add("factor", scaling.factor, &text);
  Add("original", scaling.original_max_position_embeddings, &text);
  Add("low", scaling.low_freq_factor, &text);
  Add("high", scaling.high_freq_factor, &text);
  Add("fast", scaling.beta_fast, &text);
  Add("slow", scaling.beta_slow, &text);
  Add("attention", scaling.attention_factor, &text);
  Add("mscale", scaling.mscale, &text);
  Add("all_dim", scaling.mscale_all_dim, &text);
  Add("truncate", scaling.truncate, &text);
  Add("max", scaling.max_position_embeddings, &text);
  if (!scaling.short_factor.empty()) absl::StrAppend(&text, " short ", absl::StrJoin(scaling.short_factor, ","));
  if (!scaling.long_factor.empty()) absl::StrAppend(&text, " long ", absl::StrJoin(scaling.long_factor, ","));
  return absl::StrCat(text, " )");
}

template <typename Layers>
std::string SettingsText(const Layers& rotary) {
  std::string text =
      absl::StrCat(rotary.rotary_dim.value_or(0), "/", rotary.head_dim.value_or(0), " theta ", rotary.theta.value_or(0),
                   rotary.interleaved.value_or(false) ? " interleaved" : " half");
  if (rotary.scaling.has_value()) absl::StrAppend(&text, ScalingText(*rotary.scaling));
  return text;
}

std::string PositionText(const config::ModelConfig& model) {
  if (!model.position.has_value()) return "";
  if (std::holds_alternative<config::NoPositions>(*model.position)) return " + none";
  if (const auto* rotary = std::get_if<config::RotaryPositions>(&*model.position)) return " + " + Summary(*rotary);
  if (const auto* computed = std::get_if<config::SinusoidalPositions>(&*model.position)) {
    std::string text = absl::StrCat(" + sinusoidal ", kLayouts[static_cast<std::size_t>(computed->layout.value())],
                                    " base ", computed->base.value(), " ", computed->max_context_length.value());
    Add("to", computed->grow_to, &text);
    return text + NumberingText(model);
  }
  const auto& source = std::get<config::LearnedPositions>(*model.position).source;
  const auto* file = std::get_if<config::TableFile>(&source);
  return absl::StrCat(" + learned ", file == nullptr ? "seeded" : file->tensor, NumberingText(model));
}

std::string TypeText(const config::ModelConfig& model) {
  if (!model.token_types.has_value()) return "";
  const auto* types = std::get_if<config::TokenTypes>(&*model.token_types);
  if (types == nullptr) return " + no types";
  const auto* file = std::get_if<config::TableFile>(&types->source);
  return absl::StrCat(" + types ", file == nullptr ? "shared" : file->tensor,
                      types->only_when_sent ? " when sent" : "");
}

std::string NormText(const config::ModelConfig& model) {
  if (!model.layer_norm.has_value()) return "";
  const auto* norm = std::get_if<config::LayerNorm>(&*model.layer_norm);
  if (norm == nullptr) return " -> no norm";
  return absl::StrCat(" -> norm ", norm->weight->tensor, norm->bias.has_value() ? ", " + norm->bias->tensor : "",
                      " eps ", norm->eps.value_or(-1));
}

std::string TokenText(const config::ModelConfig& model) {
  const auto* file = std::get_if<config::TableFile>(&model.token);
  std::string text = file == nullptr ? "seeded" : file->tensor;
  if (model.token_scale.has_value()) {
    const auto& scale = *model.token_scale;
    absl::StrAppend(&text, " * ", scale.sqrt_dim ? "sqrt_dim" : absl::StrCat(scale.factor),
                    scale.weight_dtype ? " as weight" : "");
  }
  return text;
}

}  // namespace

std::string Summary(const config::RotaryPositions& rotary) {
  std::string text = "rotary " + SettingsText(rotary);
  for (const auto& [name, layers] : rotary.layer_types) absl::StrAppend(&text, ", ", name, " ", SettingsText(layers));
  return text;
}

std::string Summary(const config::ModelConfig& model) {
  std::string text = absl::StrCat(TokenText(model), PositionText(model), TypeText(model));
  if (model.sum_order == config::SumOrder::kPositionFirst) text += ", position first";
  if (model.sum_order == config::SumOrder::kTypeFirst) text += ", type first";
  text += NormText(model);
  if (model.zero_masked.value_or(false)) text += ", masked 0";
  if (model.padding_idx.has_value()) absl::StrAppend(&text, "; pad ", *model.padding_idx);
  if (model.trained_context_length.has_value()) absl::StrAppend(&text, "; trained ", *model.trained_context_length);
  return text;
}

}  // namespace embd::architectures

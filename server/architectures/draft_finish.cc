#include <utility>

#include "absl/strings/str_cat.h"
#include "server/architectures/draft.h"
#include "server/core/error.h"

// What was given takes the place of what was found.
namespace embd::architectures {

template <typename T>
void Draft::Prefer(const std::optional<T>& given, std::optional<T>* found, absl::string_view key) {
  if (!given.has_value()) return;
  *found = given;
  found_.Forget(key);
}

void Draft::Resolve(config::TableFile* file, absl::string_view key) {
  if (!file->path.empty()) return;
  if (file->tensor.empty()) {
    return fault_->Report(core::InvalidArgument(
        "INVALID_MODEL", absl::StrCat(key, ": file or tensor is missing, which ", architecture_, " does not tell")));
  }
  auto tensor = tensors_.Find(file->tensor);
  if (!tensor.ok()) return fault_->Report(tensor.status());
  file->path = tensor->path;
  found_.Add(absl::StrCat(key, ".file"), tensor->path, absl::StrCat("holds ", core::Quote(tensor->name)));
}

template <typename Layers>
void Draft::FinishRotary(const Layers& given, Layers* rotary, const std::string& key) {
  Prefer(given.head_dim, &rotary->head_dim, absl::StrCat(key, ".head_dim"));
  Prefer(given.rotary_dim, &rotary->rotary_dim, absl::StrCat(key, ".rotary_dim"));
  Prefer(given.theta, &rotary->theta, absl::StrCat(key, ".theta"));
  Prefer(given.interleaved, &rotary->interleaved, absl::StrCat(key, ".pairing"));
  Prefer(given.scaling, &rotary->scaling, absl::StrCat(key, ".scaling"));
}

void Draft::FinishPosition() {
  if (!given_.position.has_value()) return;
  const config::Positions& given = *given_.position;
  const bool same_kind = model_.position.has_value() && model_.position->index() == given.index();
  if (const auto* computed = std::get_if<config::SinusoidalPositions>(&given); same_kind && computed != nullptr) {
    auto& found = std::get<config::SinusoidalPositions>(*model_.position);
    Prefer(computed->max_context_length, &found.max_context_length, "position.sinusoidal.max_context_length");
    Prefer(computed->base, &found.base, "position.sinusoidal.base");
    Prefer(computed->layout, &found.layout, "position.sinusoidal.layout");
    Prefer(computed->grow_to, &found.grow_to, "position.sinusoidal.grow_to");
    return;
  }
  if (const auto* rotary = std::get_if<config::RotaryPositions>(&given); same_kind && rotary != nullptr) {
    auto& found = std::get<config::RotaryPositions>(*model_.position);
    FinishRotary(*rotary, &found, "position.rotary");
    for (const auto& [name, layers] : rotary->layer_types) {
      FinishRotary(layers, &found.layer_types[name], absl::StrCat("position.rotary.layer_types.", name));
    }
    return;
  }
  const bool learned_was_found = same_kind && std::holds_alternative<config::LearnedPositions>(given);
  if (learned_was_found || !fault_->ok()) return;
  found_.Forget("position");
  model_.position = given;
  if (auto* learned = std::get_if<config::LearnedPositions>(&*model_.position)) {
    if (auto* file = std::get_if<config::TableFile>(&learned->source)) Resolve(file, "position.learned");
  }
}

void Draft::FinishNumbering() {
  const bool has_table = model_.position.has_value() &&
                         !std::holds_alternative<config::NoPositions>(*model_.position) &&
                         !std::holds_alternative<config::RotaryPositions>(*model_.position);
  if (!has_table) {
    model_.numbering.reset();
    model_.row_offset.reset();
    found_.Forget("position.numbering");
    found_.Forget("position.row_offset");
  }
  Prefer(given_.numbering, &model_.numbering, "position.numbering");
  Prefer(given_.row_offset, &model_.row_offset, "position.row_offset");
  Prefer(given_.padding_idx, &model_.padding_idx, "padding_idx");
  if (position_rows_ > 0 && !model_.trained_context_length.has_value()) {
    const bool by_padding = model_.numbering == config::Numbering::kPadding;
    const std::int64_t unused = model_.row_offset.value_or(0) + (by_padding ? model_.padding_idx.value_or(-1) + 1 : 0);
    if (unused < position_rows_) Trained({position_rows_ - unused, "the rows of the position table that are used"});
  }
}

void Draft::FinishTokenTypes() {
  if (!given_.token_types.has_value()) return;
  const auto* const given = std::get_if<config::TokenTypes>(&*given_.token_types);
  if (given == nullptr) {
    model_.token_types = config::Absent{};
    return;
  }
  found_.Forget("token_type.only_when_sent");
  auto* const found = model_.token_types.has_value() ? std::get_if<config::TokenTypes>(&*model_.token_types) : nullptr;
  if (found != nullptr) {
    found->only_when_sent = given->only_when_sent;
    return;
  }
  config::TokenTypes types = *given;
  if (auto* file = std::get_if<config::TableFile>(&types.source)) Resolve(file, "token_type");
  model_.token_types = types;
}

void Draft::FinishNorm() {
  if (!given_.layer_norm.has_value()) return;
  const auto* const given = std::get_if<config::LayerNorm>(&*given_.layer_norm);
  if (given == nullptr) {
    model_.layer_norm = config::Absent{};
    return;
  }
  auto* const found = model_.layer_norm.has_value() ? std::get_if<config::LayerNorm>(&*model_.layer_norm) : nullptr;
  config::LayerNorm norm = found == nullptr ? config::LayerNorm{} : *found;
  if (given->weight.has_value()) {
    norm.weight = given->weight;
    norm.bias = given->bias;
    Resolve(&*norm.weight, "layer_norm.weight");
    if (norm.bias.has_value()) Resolve(&*norm.bias, "layer_norm.bias");
  } else if (!norm.weight.has_value()) {
    fault_->Report(core::InvalidArgument(
        "INVALID_MODEL", absl::StrCat("layer_norm.weight is missing: ", architecture_, " has no LayerNorm here")));
  }
  Prefer(given->eps, &norm.eps, "layer_norm.eps");
  model_.layer_norm = norm;
}

void Draft::FinishOutput() {
  const config::Output& given = given_.output;
  config::Output& output = model_.output;
  Prefer(given.tied, &output.tied, "output.tied");
  Prefer(given.scale, &output.scale, "output.scale");
  Prefer(given.softcap, &output.softcap, "output.softcap");
  Prefer(given.bias, &output.bias, "output.bias");
  if (!given.bias.has_value()) return;
  if (auto* const file = std::get_if<config::TableFile>(&*output.bias)) Resolve(file, "output.bias");
}

absl::StatusOr<InferredModel> Draft::Finish() {
  if (given_.side.has_value() && !has_sides_) {
    fault_->Report(core::InvalidArgument(
        "INVALID_MODEL", absl::StrCat("side: ", architecture_, " has no encoder and decoder to choose from")));
  }
  model_.name = given_.name;
  model_.version = given_.version;
  model_.out_of_range = given_.out_of_range;
  if (given_.dropout_mask_id.has_value()) model_.dropout_mask_id = given_.dropout_mask_id;
  Prefer(given_.token_scale, &model_.token_scale, "token.scale");
  FinishPosition();
  FinishNumbering();
  FinishTokenTypes();
  FinishNorm();
  FinishOutput();
  Prefer(given_.sum_order, &model_.sum_order, "sum_order");
  Prefer(given_.zero_masked, &model_.zero_masked, "zero_masked");
  Prefer(given_.saturate, &model_.saturate, "saturate");
  Prefer(given_.trained_context_length, &model_.trained_context_length, "trained_context_length");
  if (!fault_->ok()) return fault_->status();
  return InferredModel{std::move(model_), model_type_, found_.TakeValues(), found_.TakeNotes()};
}

}  // namespace embd::architectures

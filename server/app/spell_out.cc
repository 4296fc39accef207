#include "server/app/spell_out.h"

#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::app {
namespace {

void UsePath(const std::string& path, config::TableFile* file) {
  if (file->path.empty()) file->path = path;
}

absl::Status OnlyAFolderTells(absl::string_view key) {
  return core::InvalidArgument("INVALID_CONFIG", absl::StrCat(key,
                                                              " must be given: only a model folder could tell it, "
                                                              "and the path is a file"));
}

absl::Status SpellOutPositions(const config::ModelConfig& given, config::Positions* position) {
  if (auto* const learned = std::get_if<config::LearnedPositions>(position)) {
    if (auto* const file = std::get_if<config::TableFile>(&learned->source)) UsePath(given.path, file);
  }
  const auto* const sinusoidal = std::get_if<config::SinusoidalPositions>(position);
  if (sinusoidal != nullptr && !sinusoidal->max_context_length.has_value()) {
    return OnlyAFolderTells("position.sinusoidal.max_context_length");
  }
  return absl::OkStatus();
}

absl::Status SpellOutLayerNorm(const config::ModelConfig& given, config::LayerNorm* norm) {
  if (!norm->weight.has_value()) return OnlyAFolderTells("layer_norm.weight");
  UsePath(given.path, &*norm->weight);
  if (norm->bias.has_value()) UsePath(given.path, &*norm->bias);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<config::ModelConfig> SpellOutFile(config::ModelConfig given) {
  if (given.side.has_value()) {
    return core::InvalidArgument("INVALID_CONFIG", "side goes with a model folder, and the path is a file");
  }
  if (auto* const file = std::get_if<config::TableFile>(&given.token)) UsePath(given.path, file);
  if (given.position.has_value()) {
    if (absl::Status status = SpellOutPositions(given, &*given.position); !status.ok()) return status;
  }
  if (given.token_types.has_value()) {
    if (auto* const types = std::get_if<config::TokenTypes>(&*given.token_types)) {
      if (auto* const file = std::get_if<config::TableFile>(&types->source)) UsePath(given.path, file);
    }
  }
  if (given.layer_norm.has_value()) {
    if (auto* const norm = std::get_if<config::LayerNorm>(&*given.layer_norm)) {
      if (absl::Status status = SpellOutLayerNorm(given, norm); !status.ok()) return status;
    }
  }
  if (given.output.bias.has_value()) {
    if (auto* const file = std::get_if<config::TableFile>(&*given.output.bias)) UsePath(given.path, file);
  }
  return given;
}

absl::StatusOr<architectures::InferredModel> SpellOut(const config::ModelConfig& given) {
  architectures::InferredModel spelled_out{.model = given};
  if (given.path.empty()) return spelled_out;
  if (architectures::CanInferFrom(given.path)) return architectures::InferModel(given);
  auto model = SpellOutFile(given);
  if (!model.ok()) return model.status();
  spelled_out.model = *std::move(model);
  return spelled_out;
}

}  // namespace embd::app

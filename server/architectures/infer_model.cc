#include "server/architectures/infer_model.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/architectures/checkpoint_tensors.h"
#include "server/architectures/draft.h"
#include "server/architectures/families/families.h"
#include "server/architectures/gguf_settings.h"
#include "server/architectures/gguf_tensors.h"
#include "server/architectures/json_file.h"
#include "server/architectures/model_folder.h"
#include "server/core/error.h"
#include "server/formats/checkpoint.h"
#include "server/formats/file_error.h"
#include "server/formats/gguf_file.h"
#include "server/formats/out_of_memory.h"

namespace embd::architectures {
namespace {

constexpr std::array kFamilies = {InferGpt,           InferBert,           InferRoberta,    InferOtherEncoder,
                                  InferMaskNumbered,  InferEncoderDecoder, InferSinusoidal, InferWithoutPosition,
                                  InferRotaryDecoder, InferGemma,          InferOtherRotary};

bool IsGguf(const std::string& path) { return absl::EndsWithIgnoreCase(path, ".gguf"); }

std::string InFolder(const std::string& folder, const char* name) {
  return (std::filesystem::path(folder) / name).string();
}

absl::Status UnknownType(absl::string_view source, const std::string& file, const config::ModelConfig& given,
                         const TensorSource& tensors) {
  const std::string shown = formats::DisplayPath(file);
  return core::Error(absl::StatusCode::kUnimplemented, "UNSUPPORTED_ARCHITECTURE",
                     absl::StrCat(source, " is not known; spell out token, position and scale: - { name: ", given.name,
                                  ", token: { file: ", shown, ", tensor: …, scale: 1 }, position: { learned: { file: ",
                                  shown, ", tensor: … } } }; there are the tensors ", tensors.ListNames()));
}

// Multimodal models keep the settings of the part that takes tokens in an object of their own.
std::optional<Settings> TextSettings(const Settings& settings, const std::string& model_type) {
  return model_type == "gemma3" ? settings.Object("text_config") : std::nullopt;
}

absl::StatusOr<InferredModel> FromConfig(const nlohmann::json& object, const config::ModelConfig& given,
                                         const std::string& folder) {
  if (!object.is_object()) return formats::InvalidFile("config.json: must be an object");
  Fault fault;
  const Settings settings(object, "config.json: ", &fault);
  const auto type = settings.Text("model_type");
  if (!fault.ok()) return fault.status();
  if (!type.has_value()) return formats::InvalidFile("config.json: model_type is missing");
  auto checkpoint = formats::Checkpoint::Open(folder);
  if (!checkpoint.ok()) return checkpoint.status();
  const CheckpointTensors tensors(*std::move(checkpoint));
  const Settings text = TextSettings(settings, type->value).value_or(settings);
  Draft draft(given, type->value, absl::StrCat("model_type ", type->value), text, tensors, &fault);
  for (const auto infer : kFamilies) {
    if (infer(&draft)) return draft.Finish();
  }
  return UnknownType(absl::StrCat("config.json: model_type ", core::Quote(type->value)),
                     InFolder(folder, "model.safetensors"), given, tensors);
}

absl::StatusOr<InferredModel> FromGguf(const config::ModelConfig& given) {
  auto file = formats::OpenGguf(given.path);
  if (!file.ok()) return file.status();
  const GgufTensors tensors(given.path, *std::move(file));
  Fault fault;
  const nlohmann::json general = GgufObject(tensors.metadata(), "general.");
  const auto type = Settings(general, "metadata: general.", &fault).Text("architecture");
  if (!fault.ok()) return fault.status();
  if (!type.has_value())
    return formats::InvalidFile(
        "metadata: general.architecture is missing; say which table is meant as token: { file: … } instead of path");
  const std::string prefix = absl::StrCat(type->value, ".");
  const nlohmann::json object = GgufObject(tensors.metadata(), prefix);
  const Settings settings(object, absl::StrCat("metadata: ", prefix), &fault);
  Draft draft(given, type->value, absl::StrCat("architecture ", type->value), settings, tensors, &fault);
  if (InferGguf(&draft)) return draft.Finish();
  return UnknownType(absl::StrCat("metadata: general.architecture ", core::Quote(type->value)), given.path, given,
                     tensors);
}

absl::StatusOr<InferredModel> Infer(const config::ModelConfig& given) {
  if (IsGguf(given.path)) return FromGguf(given);
  const auto folder = TransformerFolder(given.path);
  if (!folder.ok()) return folder.status();
  const auto config = ReadJsonFile(InFolder(*folder, "config.json"));
  if (!config.ok()) return config.status();
  return FromConfig(*config, given, *folder);
}

// Some errors begin with the file or folder already.
absl::Status WithFolder(const std::string& folder, const absl::Status& status) {
  const bool has_path = absl::string_view(status.message()).substr(0, folder.size()) == folder;
  return has_path ? status : formats::AtPath(folder, status);
}

}  // namespace

bool CanInferFrom(const std::string& path) {
  std::error_code error;
  return IsGguf(path) || std::filesystem::is_directory(path, error);
}

absl::StatusOr<InferredModel> InferModel(const config::ModelConfig& given) {
  auto inferred = formats::CatchOutOfMemory(given.path, [&given] { return Infer(given); });
  if (!inferred.ok()) return WithFolder(formats::DisplayPath(given.path), inferred.status());
  return inferred;
}

}  // namespace embd::architectures

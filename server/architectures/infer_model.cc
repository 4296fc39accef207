#include "server/architectures/infer_model.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/architectures/draft.h"
#include "server/architectures/families/families.h"
#include "server/architectures/json_file.h"
#include "server/architectures/model_folder.h"
#include "server/core/error.h"
#include "server/formats/checkpoint.h"
#include "server/formats/file_error.h"
#include "server/formats/out_of_memory.h"

namespace embd::architectures {
namespace {

constexpr std::array kFamilies = {InferGpt,           InferBert,           InferRoberta,    InferOtherEncoder,
                                  InferMaskNumbered,  InferEncoderDecoder, InferSinusoidal, InferWithoutPosition,
                                  InferRotaryDecoder, InferGemma,          InferOtherRotary};

absl::Status UnknownType(const Settings& settings, const config::ModelConfig& given, const std::string& folder,
                         const formats::Checkpoint& checkpoint) {
  const std::string file = formats::DisplayPath((std::filesystem::path(folder) / "model.safetensors").string());
  return core::Error(absl::StatusCode::kUnimplemented, "UNSUPPORTED_ARCHITECTURE",
                     absl::StrCat("config.json: model_type ", core::Quote(settings.Text("model_type")->value),
                                  " is not known; spell out token, position and scale: - { name: ", given.name,
                                  ", token: { file: ", file, ", tensor: …, scale: 1 }, position: { learned: { file: ",
                                  file, ", tensor: … } } }; there are the tensors ", checkpoint.ListNames()));
}

// Multimodal models keep the settings of the part that takes tokens in an object of their own.
std::optional<Settings> TextSettings(const Settings& settings, const std::string& model_type) {
  return model_type == "gemma3" ? settings.Object("text_config") : std::nullopt;
}

absl::StatusOr<InferredModel> FromConfig(const nlohmann::json& object, const config::ModelConfig& given,
                                         const std::string& folder) {
  if (!object.is_object()) return formats::InvalidFile("config.json: must be an object");
  Fault fault;
  const Settings settings(object, "", &fault);
  const auto type = settings.Text("model_type");
  if (!fault.ok()) return fault.status();
  if (!type.has_value()) return formats::InvalidFile("config.json: model_type is missing");
  const auto checkpoint = formats::Checkpoint::Open(folder);
  if (!checkpoint.ok()) return checkpoint.status();
  const Settings text = TextSettings(settings, type->value).value_or(settings);
  Draft draft(given, type->value, text, *checkpoint, &fault);
  for (const auto infer : kFamilies) {
    if (infer(&draft)) return draft.Finish();
  }
  return UnknownType(settings, given, folder, *checkpoint);
}

absl::StatusOr<InferredModel> Infer(const config::ModelConfig& given) {
  const auto folder = TransformerFolder(given.path);
  if (!folder.ok()) return folder.status();
  const std::string path = (std::filesystem::path(*folder) / "config.json").string();
  const auto config = ReadJsonFile(path);
  if (!config.ok()) return config.status();
  return FromConfig(*config, given, *folder);
}

// Some errors begin with the file or folder already.
absl::Status WithFolder(const std::string& folder, const absl::Status& status) {
  const bool has_path = absl::string_view(status.message()).substr(0, folder.size()) == folder;
  return has_path ? status : formats::AtPath(folder, status);
}

}  // namespace

absl::StatusOr<InferredModel> InferModel(const config::ModelConfig& given) {
  auto inferred = formats::CatchOutOfMemory(given.path, [&given] { return Infer(given); });
  if (!inferred.ok()) return WithFolder(formats::DisplayPath(given.path), inferred.status());
  return inferred;
}

}  // namespace embd::architectures

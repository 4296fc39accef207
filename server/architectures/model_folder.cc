#include "server/architectures/model_folder.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/architectures/json_file.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"

namespace embd::architectures {
namespace {

namespace fs = std::filesystem;

// What `key` of the first module says.
absl::StatusOr<std::string> TextOfFirst(const nlohmann::json& modules, const char* key) {
  const bool is_list = modules.is_array() && !modules.empty() && modules.front().is_object();
  if (!is_list) return formats::InvalidFile("must be a list of modules");
  const auto text = modules.front().find(key);
  if (text == modules.front().end() || !text->is_string()) {
    return formats::InvalidFile(absl::StrCat("[0].", key, ": must be a string"));
  }
  return text->get<std::string>();
}

absl::StatusOr<std::string> FolderOfFirst(const nlohmann::json& modules) {
  const auto type = TextOfFirst(modules, "type");
  if (!type.ok()) return type.status();
  if (!absl::EndsWith(*type, ".Transformer")) {
    return core::Error(absl::StatusCode::kUnimplemented, "UNSUPPORTED_ARCHITECTURE",
                       absl::StrCat("[0].type: ", core::Quote(*type), " is no transformer; spell out the model's token",
                                    " table in YAML: token: { file: …, tensor: … }"));
  }
  auto path = TextOfFirst(modules, "path");
  if (!path.ok()) return path.status();
  const bool leads_out = *path == ".." || absl::StrContains(*path, '/') || absl::StrContains(*path, '\0');
  if (leads_out) return formats::InvalidFile(absl::StrCat("[0].path: ", core::Quote(*path), " must be a single name"));
  return path;
}

}  // namespace

absl::StatusOr<std::string> TransformerFolder(const std::string& folder) {
  const std::string modules_path = (fs::path(folder) / "modules.json").string();
  std::error_code error;
  if (!fs::exists(modules_path, error)) return folder;
  const auto modules = ReadJsonFile(modules_path);
  if (!modules.ok()) return modules.status();
  const auto path = FolderOfFirst(*modules);
  if (!path.ok()) return formats::AtPath(modules_path, path.status());
  return path->empty() ? folder : (fs::path(folder) / *path).string();
}

}  // namespace embd::architectures

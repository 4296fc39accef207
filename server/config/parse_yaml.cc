#include <cstddef>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/config/load.h"
#include "server/config/map_reader.h"
#include "server/config/read_model.h"
#include "server/config/read_server.h"

namespace embd::config {
namespace {

void ReadModels(MapReader& file, const std::string& folder, std::vector<ModelConfig>& out) {
  const Node* node = file.Find("models");
  if (node == nullptr) return;
  if (node->kind != Node::Kind::kList) {
    return file.Report("models", absl::StrCat("must be a list of models, got ", Found(*node)));
  }
  out.clear();
  std::map<std::string, int> lines;
  for (std::size_t i = 0; i < node->items.size() && file.errors().status().ok(); ++i) {
    MapReader model(*node->items[i], absl::StrCat("models[", i, "]"), Section::kModel, file.errors());
    out.push_back(ReadModel(model, folder));
    const std::string& name = out.back().name;
    if (const auto [first, fresh] = lines.emplace(name, model.LineOf("name")); !fresh) {
      model.Report("name",
                   absl::StrCat("must not be used twice, got ", Quote(name), ", first on line ", first->second));
    }
  }
}

}  // namespace

absl::StatusOr<ServerConfig> ParseYaml(absl::string_view text, const std::string& file_name, ServerConfig base) {
  const auto document = ParseDocument(text, file_name);
  if (!document.ok()) return document.status();
  const Node& root = **document;
  if (root.kind == Node::Kind::kNothing) return base;

  FirstError errors(file_name);
  MapReader file(root, "", Section::kFile, errors);
  const std::string folder = std::filesystem::path(file_name).parent_path().string();
  if (auto server = file.ReadMap("server", Section::kServer)) ReadServer(*server, folder, base);
  ReadModels(file, folder, base.models);
  if (!errors.status().ok()) return errors.status();
  return base;
}

}  // namespace embd::config

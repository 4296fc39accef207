#include "server/app/model_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <variant>

#include "absl/strings/match.h"

namespace embd::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNanosecondsOfSecond = 1'000'000'000;

FileStamp Stamp(const std::string& path) {
  FileStamp stamp{.path = path};
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) return stamp;
  stamp.device = found.st_dev;
  stamp.inode = found.st_ino;
  stamp.size = found.st_size;
  stamp.modified_ns = found.st_mtim.tv_sec * kNanosecondsOfSecond + found.st_mtim.tv_nsec;
  stamp.changed_ns = found.st_ctim.tv_sec * kNanosecondsOfSecond + found.st_ctim.tv_nsec;
  return stamp;
}

// `depth` folders deep: sentence-transformers keeps a model's files in a folder of its own.
void AddFolder(const fs::path& folder, int depth, std::set<std::string>& paths) {
  std::error_code error;  // a folder that cannot be read has no files, until it can be
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code unknown;
    if (entry->is_regular_file(unknown)) {
      paths.insert(entry->path().string());
    } else if (depth > 0 && entry->is_directory(unknown)) {
      AddFolder(entry->path(), depth - 1, paths);
    }
  }
}

void Add(const std::string& path, std::set<std::string>& paths) {
  if (path.empty()) return;
  std::error_code error;
  if (fs::is_directory(path, error)) return AddFolder(path, 1, paths);
  paths.insert(path);
  if (absl::EndsWith(path, ".index.json")) AddFolder(fs::path(path).parent_path(), 0, paths);
}

void Add(const config::TableFile& file, std::set<std::string>& paths) {
  Add(file.path, paths);
  Add(file.vocabulary, paths);
}

template <typename Source>
void AddSource(const Source& source, std::set<std::string>& paths) {
  if (const auto* const file = std::get_if<config::TableFile>(&source)) Add(*file, paths);
}

}  // namespace

std::vector<FileStamp> StampFiles(const config::ModelConfig& model) {
  std::set<std::string> paths;
  Add(model.path, paths);
  AddSource(model.token, paths);
  if (model.position.has_value()) {
    if (const auto* const learned = std::get_if<config::LearnedPositions>(&*model.position)) {
      AddSource(learned->source, paths);
    }
  }
  if (model.token_types.has_value()) {
    if (const auto* const types = std::get_if<config::TokenTypes>(&*model.token_types)) {
      AddSource(types->source, paths);
    }
  }
  if (model.layer_norm.has_value()) {
    if (const auto* const norm = std::get_if<config::LayerNorm>(&*model.layer_norm)) {
      if (norm->weight.has_value()) Add(*norm->weight, paths);
      if (norm->bias.has_value()) Add(*norm->bias, paths);
    }
  }
  if (model.output.bias.has_value()) AddSource(*model.output.bias, paths);
  std::vector<FileStamp> stamps;
  stamps.reserve(paths.size());
  for (const std::string& path : paths) stamps.push_back(Stamp(path));
  return stamps;
}

}  // namespace embd::app

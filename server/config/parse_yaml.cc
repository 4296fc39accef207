#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/config/load.h"
#include "server/config/map_reader.h"
#include "server/config/names.h"
#include "server/config/read_model.h"
#include "server/config/read_optional.h"

namespace embd::config {
namespace {

constexpr double kMaxDrainSeconds = 24 * 60 * 60;
constexpr std::array<absl::string_view, 2> kModelControls = {"none", "explicit"};
constexpr std::array<absl::string_view, 3> kOutputTypes = {"FP32", "FP16", "BF16"};

void ReadListenAddress(const Node& node, const std::string& path, FirstError& errors, std::vector<std::string>& out) {
  if (node.kind != Node::Kind::kScalar) {
    errors.Report(node.line, path, absl::StrCat("must be a string, got ", Found(node)));
  } else if (const auto fault = FaultOfListenAddress(node.text); fault.has_value()) {
    errors.Report(node.line, path, *fault);
  } else {
    out.push_back(node.text);
  }
}

void ReadListen(MapReader& server, std::vector<std::string>& out) {
  const Node* node = server.Find("listen");
  if (node == nullptr) return;
  std::vector<std::string> addresses;
  const std::string path = server.PathOf("listen");
  if (node->kind == Node::Kind::kScalar) {
    ReadListenAddress(*node, path, server.errors(), addresses);
  } else if (node->kind != Node::Kind::kList || node->items.empty()) {
    const std::string found = node->kind == Node::Kind::kList ? "an empty list" : Found(*node);
    server.Report("listen", absl::StrCat("must be an address or a list of addresses, got ", found));
  }
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    ReadListenAddress(*node->items[i], absl::StrCat(path, "[", i, "]"), server.errors(), addresses);
  }
  out = std::move(addresses);
}

void ReadLimits(MapReader& limits, Limits& out) {
  limits.ReadByteSize("max_request_bytes", kLargestMaxRequestBytes, out.max_request_bytes);
  limits.ReadByteSize("max_response_bytes", kLargestMaxResponseBytes, out.max_response_bytes);
  limits.ReadInteger("max_batch_size", {}, out.max_batch_size);
  limits.ReadInteger("max_sequence_length", {}, out.max_sequence_length);
  if (!limits.Has("max_bytes_in_flight")) return;
  std::int64_t in_flight = 0;
  limits.ReadByteSize("max_bytes_in_flight", std::numeric_limits<std::int64_t>::max(), in_flight);
  out.max_bytes_in_flight = in_flight;
}

SharedMemory ReadSharedMemory(MapReader& map) {
  SharedMemory out;
  map.Require("prefix");
  map.ReadString("prefix", out.prefix);
  if (const auto fault = FaultOfRegionPrefix(out.prefix); map.Has("prefix") && fault.has_value()) {
    map.Report("prefix", *fault);
  }
  map.ReadInteger("max_regions", {.min = 1, .max = kLargestMaxRegions}, out.max_regions);
  if (map.Has("max_bytes")) {
    std::int64_t max_bytes = 0;
    map.ReadByteSize("max_bytes", std::numeric_limits<std::int64_t>::max(), max_bytes);
    out.max_bytes = max_bytes;
  }
  return out;
}

void ReadInference(MapReader& inference, Inference& out) {
  inference.ReadString("name", out.name);
  if (const auto fault = FaultOfServerName(out.name); inference.Has("name") && fault.has_value()) {
    inference.Report("name", *fault);
  }
  out.output_type = ReadOptionalEnum<OutputType>(inference, "output_datatype", kOutputTypes).value_or(out.output_type);
}

void ReadServer(MapReader& server, ServerConfig& out) {
  ReadListen(server, out.listen);
  if (auto limits = server.ReadMap("limits", Section::kLimits)) ReadLimits(*limits, out.limits);
  if (auto map = server.ReadMap("shared_memory", Section::kSharedMemory)) out.shared_memory = ReadSharedMemory(*map);
  if (const auto control = ReadOptionalWord(server, "model_control", kModelControls); control.has_value()) {
    out.explicit_model_control = *control == 1;
  }
  if (auto inference = server.ReadMap("inference", Section::kInference)) ReadInference(*inference, out.inference);
  server.ReadSeconds("drain_timeout", kMaxDrainSeconds, out.drain_seconds);
  server.ReadString("ready_file", out.ready_file);
  if (auto log = server.ReadMap("log", Section::kLog); log.has_value() && log->Has("level")) {
    log->ReadString("level", out.log_level);
    if (const auto fault = FaultOfLogLevel(out.log_level); fault.has_value()) log->Report("level", *fault);
  }
}

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
  if (auto server = file.ReadMap("server", Section::kServer)) ReadServer(*server, base);
  ReadModels(file, std::filesystem::path(file_name).parent_path().string(), base.models);
  if (!errors.status().ok()) return errors.status();
  return base;
}

}  // namespace embd::config

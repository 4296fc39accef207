#include "server/config/read_server.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/config/names.h"
#include "server/config/read_optional.h"
#include "server/config/read_rows.h"

namespace embd::config {
namespace {

constexpr double kSecondsOfDay = 24 * 60 * 60;
constexpr double kMaxAgeSeconds = 24 * kSecondsOfDay;  // gRPC's ints of milliseconds hold no more
constexpr std::array<absl::string_view, 2> kModelControls = {"none", "explicit"};
constexpr std::array<absl::string_view, 3> kOutputTypes = {"FP32", "FP16", "BF16"};
constexpr std::array<absl::string_view, 2> kTlsVersions = {"1.2", "1.3"};
constexpr std::array<absl::string_view, 2> kLogFormats = {"text", "json"};

void ReadListenAddress(const Node& node, const std::string& path,
                       std::optional<std::string> (*fault_of)(absl::string_view), FirstError& errors,
                       std::vector<std::string>& out) {
  if (node.kind != Node::Kind::kScalar) {
    errors.Report(node.line, path, absl::StrCat("must be a string, got ", Found(node)));
  } else if (const auto fault = fault_of(node.text); fault.has_value()) {
    errors.Report(node.line, path, *fault);
  } else {
    out.push_back(node.text);
  }
}

/// Reads an address or a list of addresses; `fault_of` says what is wrong with one.
void ReadListen(MapReader& map, std::optional<std::string> (*fault_of)(absl::string_view),
                std::vector<std::string>& out) {
  const Node* node = map.Find("listen");
  if (node == nullptr) return;
  std::vector<std::string> addresses;
  const std::string path = map.PathOf("listen");
  if (node->kind == Node::Kind::kScalar) {
    ReadListenAddress(*node, path, fault_of, map.errors(), addresses);
  } else if (node->kind != Node::Kind::kList || node->items.empty()) {
    const std::string found = node->kind == Node::Kind::kList ? "an empty list" : Found(*node);
    map.Report("listen", absl::StrCat("must be an address or a list of addresses, got ", found));
  }
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    ReadListenAddress(*node->items[i], absl::StrCat(path, "[", i, "]"), fault_of, map.errors(), addresses);
  }
  out = std::move(addresses);
}

std::optional<std::int64_t> ReadOptionalByteSize(MapReader& map, absl::string_view key) {
  if (!map.Has(key)) return std::nullopt;
  std::int64_t bytes = 1;
  map.ReadByteSize(key, std::numeric_limits<std::int64_t>::max(), bytes);
  return bytes;
}

void ReadLimits(MapReader& limits, Limits& out) {
  limits.ReadByteSize("max_request_bytes", kLargestMaxRequestBytes, out.max_request_bytes);
  limits.ReadByteSize("max_response_bytes", kLargestMaxResponseBytes, out.max_response_bytes);
  limits.ReadInteger("max_batch_size", {}, out.max_batch_size);
  limits.ReadInteger("max_sequence_length", {}, out.max_sequence_length);
  out.max_bytes_in_flight = ReadOptionalByteSize(limits, "max_bytes_in_flight");
  out.max_request_bytes_in_flight = ReadOptionalByteSize(limits, "max_request_bytes_in_flight");
  limits.ReadInteger("max_concurrent_calls", {}, out.max_concurrent_calls);
  limits.ReadInteger("max_concurrent_streams", {.max = std::numeric_limits<std::int32_t>::max()},
                     out.max_concurrent_streams);
  limits.ReadSeconds("max_stall", {.min = 1, .max = kSecondsOfDay}, out.max_stall_seconds);
}

std::optional<double> ReadOptionalSeconds(MapReader& map, absl::string_view key, NumberRange range) {
  if (!map.Has(key)) return std::nullopt;
  double seconds = range.min;
  map.ReadSeconds(key, range, seconds);
  return seconds;
}

void ReadConnections(MapReader& connections, Connections& out) {
  constexpr NumberRange kDay = {.min = 1, .max = kSecondsOfDay};
  connections.ReadSeconds("keepalive_time", kDay, out.keepalive_time);
  connections.ReadSeconds("keepalive_timeout", kDay, out.keepalive_timeout);
  connections.ReadSeconds("min_ping_interval", {.min = 0, .max = kSecondsOfDay}, out.min_ping_interval);
  connections.ReadSeconds("handshake_timeout", kDay, out.handshake_timeout);
  out.max_idle = ReadOptionalSeconds(connections, "max_idle", {.min = 1, .max = kMaxAgeSeconds});
  out.max_age = ReadOptionalSeconds(connections, "max_age", {.min = 1, .max = kMaxAgeSeconds});
  out.max_age_grace = ReadOptionalSeconds(connections, "max_age_grace", {.min = 0, .max = kMaxAgeSeconds});
  if (out.max_age_grace.has_value() && !out.max_age.has_value()) connections.Report("max_age_grace", "needs max_age");
}

/// Reads a path, which is relative to the folder of the file.
void ReadPath(MapReader& map, absl::string_view key, const std::string& folder, std::string& out) {
  if (!map.Has(key)) return;
  map.ReadString(key, out);
  out = InFolder(folder, out);
}

Tls ReadTls(MapReader& tls, const std::string& folder) {
  Tls out;
  tls.Require("certificate");
  tls.Require("key");
  ReadPath(tls, "certificate", folder, out.certificate);
  ReadPath(tls, "key", folder, out.key);
  ReadPath(tls, "client_ca", folder, out.client_ca);
  out.min_version = ReadOptionalEnum<TlsVersion>(tls, "min_version", kTlsVersions).value_or(out.min_version);
  return out;
}

void ReadLog(MapReader& log, Log& out) {
  log.ReadString("level", out.level);
  if (const auto fault = FaultOfLogLevel(out.level); log.Has("level") && fault.has_value()) {
    log.Report("level", *fault);
  }
  out.format = ReadOptionalEnum<LogFormat>(log, "format", kLogFormats).value_or(out.format);
  log.ReadNumber("access_sample", {.min = 0.0, .max = 1.0}, out.access_sample);
}

SharedMemory ReadSharedMemory(MapReader& map) {
  SharedMemory out;
  map.Require("prefix");
  map.ReadString("prefix", out.prefix);
  if (const auto fault = FaultOfRegionPrefix(out.prefix); map.Has("prefix") && fault.has_value()) {
    map.Report("prefix", *fault);
  }
  map.ReadInteger("max_regions", {.min = 1, .max = kLargestMaxRegions}, out.max_regions);
  out.max_bytes = ReadOptionalByteSize(map, "max_bytes");
  return out;
}

void ReadInference(MapReader& inference, Inference& out) {
  inference.ReadString("name", out.name);
  if (const auto fault = FaultOfServerName(out.name); inference.Has("name") && fault.has_value()) {
    inference.Report("name", *fault);
  }
  out.output_type = ReadOptionalEnum<OutputType>(inference, "output_datatype", kOutputTypes).value_or(out.output_type);
}

}  // namespace

void ReadServer(MapReader& server, const std::string& folder, ServerConfig& out) {
  ReadListen(server, &FaultOfListenAddress, out.listen);
  if (auto tls = server.ReadMap("tls", Section::kTls)) out.tls = ReadTls(*tls, folder);
  ReadPath(server, "tokens", folder, out.tokens);
  server.ReadBool("insecure", out.insecure);
  if (auto limits = server.ReadMap("limits", Section::kLimits)) ReadLimits(*limits, out.limits);
  if (auto map = server.ReadMap("connections", Section::kConnections)) ReadConnections(*map, out.connections);
  if (auto metrics = server.ReadMap("metrics", Section::kMetrics)) {
    ReadListen(*metrics, &FaultOfMetricsAddress, out.metrics_listen);
    std::erase(out.metrics_listen, "none");
  }
  if (auto map = server.ReadMap("shared_memory", Section::kSharedMemory)) out.shared_memory = ReadSharedMemory(*map);
  if (const auto control = ReadOptionalWord(server, "model_control", kModelControls); control.has_value()) {
    out.explicit_model_control = *control == 1;
  }
  if (auto inference = server.ReadMap("inference", Section::kInference)) ReadInference(*inference, out.inference);
  server.ReadSeconds("drain_delay", {.min = 0, .max = kSecondsOfDay}, out.drain_delay_seconds);
  server.ReadSeconds("drain_timeout", {.min = 0, .max = kSecondsOfDay}, out.drain_seconds);
  server.ReadString("ready_file", out.ready_file);
  if (auto log = server.ReadMap("log", Section::kLog)) ReadLog(*log, out.log);
}

}  // namespace embd::config

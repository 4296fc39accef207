#include "server/config/changed_settings.h"

#include <array>

namespace embd::config {
namespace {

template <auto Member>
bool Same(const ServerConfig& a, const ServerConfig& b) {
  return a.*Member == b.*Member;
}

template <auto Section, auto Member>
bool Same(const ServerConfig& a, const ServerConfig& b) {
  return a.*Section.*Member == b.*Section.*Member;
}

struct Comparison {
  const char* key;
  bool (*same)(const ServerConfig&, const ServerConfig&);
};

constexpr auto kComparisons = std::to_array<Comparison>({
    {"server.listen", &Same<&ServerConfig::listen>},
    {"server.tls", &Same<&ServerConfig::tls>},
    {"server.tokens", &Same<&ServerConfig::tokens>},
    {"server.insecure", &Same<&ServerConfig::insecure>},
    {"server.limits.max_request_bytes", &Same<&ServerConfig::limits, &Limits::max_request_bytes>},
    {"server.limits.max_response_bytes", &Same<&ServerConfig::limits, &Limits::max_response_bytes>},
    {"server.limits.max_batch_size", &Same<&ServerConfig::limits, &Limits::max_batch_size>},
    {"server.limits.max_sequence_length", &Same<&ServerConfig::limits, &Limits::max_sequence_length>},
    {"server.limits.max_bytes_in_flight", &Same<&ServerConfig::limits, &Limits::max_bytes_in_flight>},
    {"server.limits.max_request_bytes_in_flight", &Same<&ServerConfig::limits, &Limits::max_request_bytes_in_flight>},
    {"server.limits.max_concurrent_calls", &Same<&ServerConfig::limits, &Limits::max_concurrent_calls>},
    {"server.limits.max_concurrent_streams", &Same<&ServerConfig::limits, &Limits::max_concurrent_streams>},
    {"server.limits.max_stall", &Same<&ServerConfig::limits, &Limits::max_stall_seconds>},
    {"server.connections.keepalive_time", &Same<&ServerConfig::connections, &Connections::keepalive_time>},
    {"server.connections.keepalive_timeout", &Same<&ServerConfig::connections, &Connections::keepalive_timeout>},
    {"server.connections.min_ping_interval", &Same<&ServerConfig::connections, &Connections::min_ping_interval>},
    {"server.connections.handshake_timeout", &Same<&ServerConfig::connections, &Connections::handshake_timeout>},
    {"server.connections.max_idle", &Same<&ServerConfig::connections, &Connections::max_idle>},
    {"server.connections.max_age", &Same<&ServerConfig::connections, &Connections::max_age>},
    {"server.connections.max_age_grace", &Same<&ServerConfig::connections, &Connections::max_age_grace>},
    {"server.metrics.listen", &Same<&ServerConfig::metrics_listen>},
    {"server.shared_memory", &Same<&ServerConfig::shared_memory>},
    {"server.model_control", &Same<&ServerConfig::explicit_model_control>},
    {"server.inference.name", &Same<&ServerConfig::inference, &Inference::name>},
    {"server.inference.output_datatype", &Same<&ServerConfig::inference, &Inference::output_type>},
    {"server.drain_delay", &Same<&ServerConfig::drain_delay_seconds>},
    {"server.drain_timeout", &Same<&ServerConfig::drain_seconds>},
    {"server.ready_file", &Same<&ServerConfig::ready_file>},
    {"server.log.level", &Same<&ServerConfig::log, &Log::level>},
    {"server.log.format", &Same<&ServerConfig::log, &Log::format>},
    {"server.log.access_sample", &Same<&ServerConfig::log, &Log::access_sample>},
});

}  // namespace

std::vector<std::string> ChangedSettings(const ServerConfig& a, const ServerConfig& b) {
  std::vector<std::string> changed;
  for (const Comparison& each : kComparisons) {
    if (!each.same(a, b)) changed.emplace_back(each.key);
  }
  return changed;
}

std::vector<std::string> AllSettings() {
  std::vector<std::string> keys;
  for (const Comparison& each : kComparisons) keys.emplace_back(each.key);
  return keys;
}

}  // namespace embd::config

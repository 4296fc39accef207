#include "server/app/connection_arguments.h"

#include <cmath>
#include <string>

#include "grpc/grpc.h"

namespace embd::app {
namespace {

constexpr int kMaxPingStrikes = 2;
constexpr int kMaxMetadataBytes = 16 << 10;  // of a call's headers; bearer tokens of a few KB fit

// The configuration's ranges fit an int of milliseconds.
int Milliseconds(double seconds) { return static_cast<int>(std::ceil(seconds * 1000)); }

}  // namespace

void SetConnectionArguments(const config::Connections& connections, const config::Limits& limits,
                            grpc::ServerBuilder* builder) {
  const auto set = [builder](const std::string& name, int value) { builder->AddChannelArgument(name, value); };
  set(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(connections.keepalive_time));
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(connections.keepalive_timeout));
  set(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  set(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // as many of the server's own as keepalive_time asks for
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, Milliseconds(connections.min_ping_interval));
  set(GRPC_ARG_HTTP2_MAX_PING_STRIKES, kMaxPingStrikes);
  set(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, Milliseconds(connections.handshake_timeout));
  set(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  set(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(limits.max_concurrent_streams));
  if (connections.max_idle.has_value()) set(GRPC_ARG_MAX_CONNECTION_IDLE_MS, Milliseconds(*connections.max_idle));
  if (connections.max_age.has_value()) set(GRPC_ARG_MAX_CONNECTION_AGE_MS, Milliseconds(*connections.max_age));
  if (connections.max_age_grace.has_value()) {
    set(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, Milliseconds(*connections.max_age_grace));
  }
}

}  // namespace embd::app

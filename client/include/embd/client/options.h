#ifndef EMBD_CLIENT_OPTIONS_H_
#define EMBD_CLIENT_OPTIONS_H_

#include <optional>
#include <stop_token>

#include "absl/time/time.h"

namespace embd::client {

/// What holds for all calls of a client.
struct ClientOptions {
  /// How long a call other than a stream may take, retries included, unless its CallOptions say otherwise. A minute by
  /// default, so that no call hangs for ever; absl::InfiniteDuration() for no limit, as bare gRPC has it.
  absl::Duration timeout = absl::Seconds(60);

  /// How often a call is tried in all when the server answers UNAVAILABLE or RESOURCE_EXHAUSTED, with waits between 50
  /// ms and 1 s that double each time: 2 to 5; 0 or 1: once. What can never fit is not tried again (the server says
  /// so). Requests of more than 256 MiB are sent once.
  int max_attempts = 4;

  /// Pause of the connection, during a call, after which a ping finds out whether the server is still there. Servers
  /// close connections that ping more often than they permit; gRPC's default is once in five minutes, so shorter values
  /// need a server that permits them. Idle connections are never pinged.
  absl::Duration keepalive_interval = absl::Minutes(6);
};

/// What holds for one call.
///
///     client.Embed(request, {.timeout = absl::Seconds(2)});
///     client.Embed(request, {.timeout = absl::FromChrono(std::chrono::milliseconds(200))});
struct CallOptions {
  /// How long the call may take, from now. Unset: ClientOptions::timeout, for streams no limit. At zero or less the
  /// call fails at once. DEADLINE_EXCEEDED when it is over.
  std::optional<absl::Duration> timeout = {};

  /// Whether the call waits, within its timeout, for a server that cannot be reached, rather than fail with
  /// UNAVAILABLE.
  bool wait_for_ready = false;

  /// Cancels the call when stop is requested of its std::stop_source, from any thread; the call then ends with
  /// CANCELLED.
  std::stop_token cancel = {};
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_OPTIONS_H_

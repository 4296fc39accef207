#ifndef EMBD_CLIENT_OPTIONS_H_
#define EMBD_CLIENT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/time/time.h"

namespace embd::client {

/// How a connection is encrypted, and who is at its ends. Files are PEM, and are read once, by Client::Connect.
struct TlsOptions {
  /// Authorities, one of which must have issued the server's certificate. Empty: those that the system trusts.
  std::string root_certificates_file = {};

  /// Certificate of the client, then those between it and its authority, for servers that ask for one; and its key,
  /// which is not encrypted. Both or neither.
  std::string certificate_file = {};
  std::string key_file = {};

  /// The name that the server's certificate must have, where it is not the host of the address, as in tests.
  std::string server_name = {};
};

/// What holds for all calls of a client.
struct ClientOptions {
  /// How long a call other than a stream may take, retries included, unless its CallOptions say otherwise. A minute by
  /// default, so that no call hangs for ever; absl::InfiniteDuration() for no limit, as bare gRPC has it.
  absl::Duration timeout = absl::Seconds(60);

  /// How often a call is tried in all when it ends with UNAVAILABLE, also where its server is lost while it answers, or
  /// with RESOURCE_EXHAUSTED; with waits between 50 ms and 1 s that double each time, or longer ones that the server
  /// asks for: 2 to 5; 0 or 1: once. What can never fit is not tried again (the server says so), and nothing is where
  /// more than half of a thousand tries have failed lately. Calls that change something and streams are tried again
  /// only until the server has answered. A call other than a stream that was not sent, because the server asked its
  /// connection to end just then, is no try, and is made on the next connection also where this is 0 or 1.
  int max_attempts = 4;

  /// Pause of the connection, during a call, after which a ping finds out whether the server is still there. Servers
  /// close connections that ping more often than they permit; gRPC's default is once in five minutes, so shorter values
  /// need a server that permits them. A connection watches its server's health for as long as it is there, and so is
  /// never idle.
  absl::Duration keepalive_interval = absl::Minutes(6);

  /// Set: TLS is spoken, 1.2 or 1.3, and the server's certificate is checked; an empty TlsOptions does for a server
  /// whose authority the system trusts. Not for Unix sockets, which servers do not encrypt. A server that is not who it
  /// should be, or does not speak TLS, is UNAVAILABLE. Unset: nothing is encrypted.
  std::optional<TlsOptions> tls = {};

  /// Goes with every call, health checks too, as metadata `authorization: Bearer TOKEN`: printable ASCII without
  /// spaces. Whoever can read the connection can read it, so other machines' servers should speak TLS. Empty: none.
  std::string token = {};

  /// A file that holds the token, in place of `token`. It is read again, at most once a second, when it changes; while
  /// it cannot be used then, the token before stays.
  std::string token_file = {};
};

/// Whether a tensor comes as one message (Embed) or in blocks of rows (EmbedChunks). The bits are the same. Requests
/// with `unique` or output_target always get one message.
enum class Chunks : int {
  kAuto,    ///< in blocks where the reply has half a MiB or more, unless the server does not know them
  kNever,   ///< one message: the whole tensor is received before the first byte is handed out
  kAlways,  ///< in blocks; UNIMPLEMENTED where the server does not know them
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

  /// For Client::Embed, EmbedInto and EmbedSlices; other calls do not look at it. Large tensors come about twice as
  /// fast in blocks, neither side holds more than a few blocks beside the result, the server's max_response_bytes does
  /// not limit them, and a call that breaks off goes on where it was: within its timeout, by up to
  /// ClientOptions::max_attempts calls in all, on the same tables or, where these have been replaced, once more from
  /// the beginning.
  Chunks chunks = Chunks::kAuto;

  /// Bytes of rows in a block at most, up to 1 GiB; 0: the server's choice, about 126 KiB, which is fastest.
  std::int64_t max_chunk_bytes = 0;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_OPTIONS_H_

#ifndef EMBD_SERVER_CONFIG_NAMES_H_
#define EMBD_SERVER_CONFIG_NAMES_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

// Which names, addresses and levels are allowed. Each function says what is wrong with a text, in words that end in
// what was found, or nothing where it is right.
namespace embd::config {

/// A model's name: a letter or digit, then up to 127 letters, digits, '.', '_' or '-'; it must not begin like the name
/// of a gRPC service that the server answers for in its health checks.
[[nodiscard]] std::optional<std::string> FaultOfModelName(absl::string_view name);

/// A model's version: the same letters as a name.
[[nodiscard]] std::optional<std::string> FaultOfVersion(absl::string_view version);

/// The name that the server tells of itself: 1 to 128 letters, digits, '.', '_' or '-'.
[[nodiscard]] std::optional<std::string> FaultOfServerName(absl::string_view name);

/// An address to listen on: HOST:PORT, [IPV6]:PORT or unix:PATH. HOST is an IPv4 address or a name, PORT 0 (any free
/// one) to 65535, PATH 1 to 107 bytes long. Nothing is looked up.
[[nodiscard]] std::optional<std::string> FaultOfListenAddress(absl::string_view address);

/// An address of the HTTP endpoint for metrics: HOST:PORT or [IPV6]:PORT as above, or "none" for no endpoint.
[[nodiscard]] std::optional<std::string> FaultOfMetricsAddress(absl::string_view address);

/// Whether only this machine reaches a listening address: unix:, localhost, 127.0.0.0/8 or [::1].
[[nodiscard]] bool IsLocalAddress(absl::string_view address);

/// How the paths of shared memory begin: absolute, at least one letter behind the first '/', without NUL and without a
/// component that is empty (but the last), "." or "..".
[[nodiscard]] std::optional<std::string> FaultOfRegionPrefix(absl::string_view prefix);

/// A log level: trace, debug, info, warn, error or off.
[[nodiscard]] std::optional<std::string> FaultOfLogLevel(absl::string_view level);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_NAMES_H_

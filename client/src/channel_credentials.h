#ifndef EMBD_CLIENT_SRC_CHANNEL_CREDENTIALS_H_
#define EMBD_CLIENT_SRC_CHANNEL_CREDENTIALS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "embd/client/options.h"
#include "grpcpp/security/credentials.h"

namespace embd::client {

/// What a channel to `target`, which is one of TargetOf, is made with.
///
/// Errors:
///   INVALID_ARGUMENT  a file cannot be read or is no PEM; only one of certificate and key is given; the target is a
///                     Unix socket, and TLS is asked for.
[[nodiscard]] absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsFor(
    const std::string& target, const std::optional<TlsOptions>& tls);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CHANNEL_CREDENTIALS_H_

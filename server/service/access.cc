#include "server/service/access.h"

#include <string>

#include "absl/strings/match.h"
#include "server/core/error.h"

namespace embd::service {
namespace {

// What is no IP address is a Unix socket or a channel in this process.
bool IsOtherMachine(const std::string& peer) {
  if (absl::StartsWith(peer, "ipv4:")) return !absl::StartsWith(peer, "ipv4:127.");
  if (absl::StartsWith(peer, "ipv6:")) {
    return !absl::StartsWith(peer, "ipv6:%5B::1%5D:") && !absl::StartsWith(peer, "ipv6:[::1]:") &&
           !absl::StartsWith(peer, "ipv6:%5B::ffff:127.") && !absl::StartsWith(peer, "ipv6:[::ffff:127.");
  }
  return false;
}

}  // namespace

absl::Status Access::Check(Role needed, const grpc::CallbackServerContext& context) const {
  if (needed != Role::kAdmin || !IsOtherMachine(context.peer())) return absl::OkStatus();
  return core::Error(absl::StatusCode::kPermissionDenied, "PERMISSION_DENIED",
                     "without tokens, admin calls are for callers on the server's machine; server.tokens in the "
                     "server's configuration admits others");
}

}  // namespace embd::service

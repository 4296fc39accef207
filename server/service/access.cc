#include "server/service/access.h"

#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/observability/log.h"

namespace embd::service {
namespace {

constexpr absl::string_view kScheme = "Bearer ";

// What is no IP address is a Unix socket or a channel in this process.
bool IsOtherMachine(const std::string& peer) {
  if (absl::StartsWith(peer, "ipv4:")) return !absl::StartsWith(peer, "ipv4:127.");
  if (absl::StartsWith(peer, "ipv6:")) {
    return !absl::StartsWith(peer, "ipv6:%5B::1%5D:") && !absl::StartsWith(peer, "ipv6:[::1]:") &&
           !absl::StartsWith(peer, "ipv6:%5B::ffff:127.") && !absl::StartsWith(peer, "ipv6:[::ffff:127.");
  }
  return false;
}

absl::Status Unauthenticated(absl::string_view message) {
  return core::Error(absl::StatusCode::kUnauthenticated, "UNAUTHENTICATED", message);
}

/// What stands behind "Bearer " in the one value of `authorization`.
absl::StatusOr<absl::string_view> BearerToken(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata) {
  const auto [first, last] = metadata.equal_range("authorization");
  if (first == last) {
    return Unauthenticated("this server needs a token, as metadata authorization: Bearer TOKEN");
  }
  absl::string_view value(first->second.data(), first->second.size());
  if (std::next(first) == last && absl::StartsWithIgnoreCase(value, kScheme)) {
    const absl::string_view token = absl::StripAsciiWhitespace(value.substr(kScheme.size()));
    if (!token.empty()) return token;
  }
  return Unauthenticated("the metadata authorization must be one value, Bearer TOKEN");
}

}  // namespace

void Access::SetTokens(std::shared_ptr<const TokenTable> tokens) {
  const core::MutexLock lock(&mutex_);
  tokens_.swap(tokens);  // the old table goes after the lock
  has_tokens_.store(tokens_ != nullptr, std::memory_order_release);
}

absl::Status Access::Check(Method method, const grpc::CallbackServerContext& context) const {
  const MethodInfo& info = InfoOf(method);
  if (info.role == Role::kAnyone) return absl::OkStatus();
  if (has_tokens_.load(std::memory_order_acquire)) return CheckToken(info, context);
  if (info.role != Role::kAdmin || !IsOtherMachine(context.peer())) return absl::OkStatus();
  return core::Error(absl::StatusCode::kPermissionDenied, "PERMISSION_DENIED",
                     "without tokens, admin calls are for callers on the server's machine; server.tokens in the "
                     "server's configuration admits others");
}

absl::Status Access::CheckToken(const MethodInfo& method, const grpc::CallbackServerContext& context) const {
  const auto token = BearerToken(context.client_metadata());
  if (!token.ok()) return token.status();
  std::shared_ptr<const TokenTable> tokens;
  {
    const core::MutexLock lock(&mutex_);
    tokens = tokens_;
  }
  const TokenTable::Holder* const holder = tokens->Find(*token);
  if (holder == nullptr) return Unauthenticated("this server does not know the token");
  if (holder->role < method.role) {
    return core::Error(absl::StatusCode::kPermissionDenied, "PERMISSION_DENIED",
                       absl::StrCat(method.name, " needs a token of the role ", NameOf(method.role),
                                    "; this one has the role ", NameOf(holder->role)));
  }
  if (method.role == Role::kAdmin) {
    observability::LogInfo(absl::StrCat(method.name, " is called by ", holder->name, " from ", context.peer()));
  }
  return absl::OkStatus();
}

}  // namespace embd::service

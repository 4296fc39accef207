#ifndef EMBD_SERVER_SERVICE_ACCESS_H_
#define EMBD_SERVER_SERVICE_ACCESS_H_

#include <atomic>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"
#include "server/core/threads/mutex.h"
#include "server/service/method.h"
#include "server/service/token_table.h"

namespace embd::service {

/// Who may call what.
///
/// Thread safety: thread-safe.
class Access {
 public:
  /// From now on, calls need a token of `tokens`, which replaces another table. Calls that were let in go on.
  void SetTokens(std::shared_ptr<const TokenTable> tokens);

  /// Whether the caller may call the method.
  ///
  /// With tokens, whoever calls a method that needs a role sends one, whatever way the call came. Without tokens
  /// everyone may do everything but admin calls, which only callers on this machine may do.
  /// Cost: nothing to speak of without tokens; else as TokenTable::Find.
  /// Errors:
  ///   UNAUTHENTICATED    [UNAUTHENTICATED] there is no token, or it is not known.
  ///   PERMISSION_DENIED  [PERMISSION_DENIED] the caller's role is not enough; names the one that is needed.
  [[nodiscard]] absl::Status Check(Method method, const grpc::CallbackServerContext& context) const;

 private:
  [[nodiscard]] absl::Status CheckToken(const MethodInfo& method, const grpc::CallbackServerContext& context) const;

  std::atomic<bool> has_tokens_ = false;
  mutable core::Mutex mutex_;  // held for a look-up of the pointer, never longer
  std::shared_ptr<const TokenTable> tokens_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_ACCESS_H_

#ifndef EMBD_SERVER_SERVICE_ACCESS_H_
#define EMBD_SERVER_SERVICE_ACCESS_H_

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"
#include "server/service/method.h"

namespace embd::service {

/// Who may call what.
///
/// Thread safety: thread-safe.
class Access {
 public:
  /// Whether the caller may do what `needed` says.
  ///
  /// Without tokens everyone may do everything but admin calls, which only callers on this machine may do.
  /// Errors:
  ///   PERMISSION_DENIED  [PERMISSION_DENIED] the caller's role is not enough.
  [[nodiscard]] absl::Status Check(Role needed, const grpc::CallbackServerContext& context) const;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_ACCESS_H_

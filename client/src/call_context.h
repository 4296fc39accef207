#ifndef EMBD_CLIENT_SRC_CALL_CONTEXT_H_
#define EMBD_CLIENT_SRC_CALL_CONTEXT_H_

#include <functional>
#include <stop_token>

#include "absl/time/time.h"
#include "client/src/bearer_token.h"
#include "embd/client/options.h"
#include "grpcpp/client_context.h"

namespace embd::client {

/// A gRPC call's context that does what CallOptions say.
///
/// Thread safety: as grpc::ClientContext. Destruction waits for a stop that is being requested at that moment.
class CallContext {
 public:
  /// With `token`, unless it is null.
  CallContext(const CallOptions& options, absl::Duration default_timeout, BearerToken* token);
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  [[nodiscard]] grpc::ClientContext* grpc() { return &context_; }
  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::stop_callback<std::function<void()>> on_stop_;  // after what it touches
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CALL_CONTEXT_H_

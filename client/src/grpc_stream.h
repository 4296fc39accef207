#ifndef EMBD_CLIENT_SRC_GRPC_STREAM_H_
#define EMBD_CLIENT_SRC_GRPC_STREAM_H_

#include <atomic>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "client/src/call_context.h"
#include "client/src/mutex.h"
#include "embd/client/transport.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"

namespace embd::client {

/// One call of EmbedStream.
///
/// Of the threads that wait, one polls the connection for all of them.
class GrpcStream : public StreamTransport {
 public:
  GrpcStream(grpc::GenericStub* stub, const CallOptions& options, BearerToken* token);
  ~GrpcStream() override;

  /// Waits for the connection; called once, before all else.
  ///
  /// Errors: why there is none.
  [[nodiscard]] absl::Status Start();

  [[nodiscard]] absl::Status Send(const EmbedRequest& request, absl::string_view request_id) override;
  [[nodiscard]] absl::Status CloseSending() override;
  [[nodiscard]] absl::StatusOr<std::optional<StreamItem>> Receive() override;
  void Cancel() override { context_.Cancel(); }

 private:
  // What has become of an operation whose tag is the address of this.
  struct Operation {
    bool done = false;
    bool ok = false;
  };

  // Waits for an operation that has been started and says whether it went well.
  bool Wait(Operation* operation);

  // Takes the call's final status, once nothing can be read any more.
  void Finish();

  CallContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;

  Mutex mutex_;
  Condition changed_;
  bool polling_ ABSL_GUARDED_BY(mutex_) = false;
  Operation start_, write_, read_, finish_;  // looked at and set under mutex_

  bool sending_closed_ = false;            // of the sending thread
  std::atomic<bool> has_targets_ = false;  // whether a request named one for its result
  std::optional<absl::Status> final_;      // of the receiving thread
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_GRPC_STREAM_H_

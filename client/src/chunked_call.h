#ifndef EMBD_CLIENT_SRC_CHUNKED_CALL_H_
#define EMBD_CLIENT_SRC_CHUNKED_CALL_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/src/bearer_token.h"
#include "client/src/chunked_reply.h"
#include "client/src/reply_sink.h"
#include "client/src/retry.h"
#include "embd/client/embedding.h"
#include "embd/client/options.h"
#include "grpcpp/generic/generic_stub.h"

namespace embd::client {

/// One Embed that is asked for by EmbedChunks. Where the connection breaks, or the server has no room for the next
/// block, a further call goes on with the row behind those that have come, on the same tables. Where the tables are
/// others by then, the rows are asked for from the first one on, once.
///
/// Thread safety: not thread-safe.
class ChunkedCall {
 public:
  /// What is passed by pointer or reference outlives this. `max_attempts` is how many calls are made at most;
  /// `token` may be null.
  ChunkedCall(grpc::GenericStub* stub, const EmbedRequest& request, const CallOptions& options, absl::Time deadline,
              int max_attempts, RetryBudget* budget, BearerToken* token, ReplySink* sink)
      : stub_(*stub),
        request_(request),
        options_(options),
        deadline_(deadline),
        retry_(max_attempts, deadline, options.cancel, budget),
        token_(token),
        reply_(sink) {}

  /// Makes the calls; blocks. To be called once.
  ///
  /// Errors: those of the server, of ChunkedReply and of the sink.
  [[nodiscard]] absl::StatusOr<EmbedInfo> Run();

  /// Whether it failed because the server does not know EmbedChunks; the sink was not called then.
  [[nodiscard]] bool is_unknown_to_server() const { return unknown_to_server_; }

 private:
  // What one call has come to.
  struct Outcome {
    absl::Status status;
    bool from_server = false;                  // or from gRPC, rather than from this side
    std::optional<absl::Duration> pause = {};  // before a further call; none: there is to be none
  };

  [[nodiscard]] Outcome CallOnce();

  grpc::GenericStub& stub_;
  const EmbedRequest& request_;
  const CallOptions& options_;
  const absl::Time deadline_;
  Retry retry_;
  BearerToken* const token_;
  ChunkedReply reply_;
  std::string if_checksum_;
  bool unknown_to_server_ = false;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CHUNKED_CALL_H_

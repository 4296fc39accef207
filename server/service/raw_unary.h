#ifndef EMBD_SERVER_SERVICE_RAW_UNARY_H_
#define EMBD_SERVER_SERVICE_RAW_UNARY_H_

#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"
#include "server/service/backend.h"
#include "server/service/call.h"

namespace embd::service {

/// A unary call whose reply is an ordinary message: decode, answer, encode. Lives until gRPC is done with the call.
template <typename Request, typename Response>
class RawUnary final : public grpc::ServerUnaryReactor {
 public:
  /// Makes the reply; asks `call.Interrupted()` now and then where that takes long.
  using Answer = std::function<absl::StatusOr<Response>(const Request& request, const Call& call)>;

  /// `rpc` is a literal. With `on_worker` the answer is made by the workers, else at once, on gRPC's thread.
  static grpc::ServerUnaryReactor* Start(Backend* backend, absl::string_view rpc, grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request, grpc::ByteBuffer* reply, bool on_worker,
                                         Answer answer) {
    auto* const reactor = new RawUnary(rpc, context, std::move(answer));
    const auto run = [reactor, backend, request, reply] { reactor->Run(backend->max_request_bytes, *request, reply); };
    if (on_worker) {
      backend->workers.Add(run);
    } else {
      run();
    }
    return reactor;
  }

  void OnCancel() override { call_.OnCancelled(); }
  void OnDone() override { delete this; }

 private:
  RawUnary(absl::string_view rpc, grpc::CallbackServerContext* context, Answer answer)
      : call_(rpc, context), answer_(std::move(answer)) {}

  void Run(std::int64_t max_request_bytes, const grpc::ByteBuffer& request, grpc::ByteBuffer* reply) {
    Request message;
    absl::Status status = Decode(request, max_request_bytes, &message);
    if (status.ok()) {
      const absl::StatusOr<Response> response = answer_(message, call_);
      status = response.status();
      if (response.ok()) *reply = Encode(*response);
    }
    absl::string_view model;
    if constexpr (requires { message.model(); }) model = message.model();
    call_.Log(model, -1, -1, static_cast<std::int64_t>(request.Length()),
              status.ok() ? static_cast<std::int64_t>(reply->Length()) : 0, status);
    Finish(call_.Seal(status));
  }

  Call call_;
  const Answer answer_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_RAW_UNARY_H_

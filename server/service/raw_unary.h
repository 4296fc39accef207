#ifndef EMBD_SERVER_SERVICE_RAW_UNARY_H_
#define EMBD_SERVER_SERVICE_RAW_UNARY_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"
#include "server/service/backend.h"
#include "server/service/call.h"
#include "server/service/overload.h"
#include "server/service/stall_watch.h"

namespace embd::service {

/// How long making an answer may take.
enum class Length {
  kShort,   ///< made at once, on gRPC's thread; by the workers where the request is large
  kMedium,  ///< made by the workers: milliseconds up to a second
  kLong,    ///< made by the diagnostics' own thread, so that nothing else waits for it
};

/// A unary call whose reply is an ordinary message: decode, answer, encode. Lives until gRPC is done with the call.
template <typename Request, typename Response>
class RawUnary final : public grpc::ServerUnaryReactor {
 public:
  /// Makes the reply; asks `call.Interrupted()` now and then where that takes long.
  using Answer = std::function<absl::StatusOr<Response>(const Request& request, const Call& call)>;

  static grpc::ServerUnaryReactor* Start(Backend* backend, Method method, grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request, grpc::ByteBuffer* reply, Length length,
                                         Answer answer) {
    auto* const reactor = new RawUnary(&backend->gate, method, context, std::move(answer));
    const auto request_bytes = static_cast<std::int64_t>(request->Length());
    const absl::Status refused = reactor->call_.Enter(request_bytes);
    if (!refused.ok()) {
      reactor->call_.Log("", -1, -1, request_bytes, 0, refused);
      reactor->Finish(reactor->call_.End(refused));
      return reactor;
    }
    const auto run = [reactor, backend, request, reply] { reactor->Run(backend->max_request_bytes, *request, reply); };
    if (length == Length::kLong) {
      backend->diagnostics.Add(run);
    } else if (length == Length::kMedium || IsLarge(*request)) {
      backend->workers.Add(run);
    } else {
      run();
    }
    return reactor;
  }

  void OnCancel() override { call_.OnCancelled(); }
  void OnDone() override { delete this; }

 private:
  RawUnary(Gate* gate, Method method, grpc::CallbackServerContext* context, Answer answer)
      : call_(gate, method, context), answer_(std::move(answer)) {}

  void Run(std::int64_t max_request_bytes, const grpc::ByteBuffer& request, grpc::ByteBuffer* reply) {
    Request message;
    const absl::Status status = WithinMemory([&] {
      if (absl::Status gone = call_.Interrupted(); !gone.ok()) return gone;
      if (absl::Status bad = call_.Decode(request, max_request_bytes, &message); !bad.ok()) return bad;
      const absl::StatusOr<Response> response = answer_(message, call_);
      if (response.ok()) *reply = Encode(*response);
      return response.status();
    });
    absl::string_view model;
    if constexpr (requires { message.model(); }) model = message.model();
    call_.Log(model, -1, -1, static_cast<std::int64_t>(request.Length()),
              status.ok() ? static_cast<std::int64_t>(reply->Length()) : 0, status);
    if (status.ok() && reply->Length() > kWatchedBytes) {
      watched_.emplace(&call_.gate().stalls(), NameOf(call_.method()), call_.context());
      watched_->BeginWait();
    }
    Finish(call_.End(status));
  }

  static constexpr std::size_t kWatchedBytes = std::size_t{16} << 10;

  std::optional<StallWatch::Reply> watched_;
  Call call_;
  const Answer answer_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_RAW_UNARY_H_

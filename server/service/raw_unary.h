#ifndef EMBD_SERVER_SERVICE_RAW_UNARY_H_
#define EMBD_SERVER_SERVICE_RAW_UNARY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"
#include "server/core/error.h"
#include "server/service/backend.h"
#include "server/service/call.h"
#include "server/service/overload.h"
#include "server/service/reply_buffers.h"
#include "server/service/stall_watch.h"

namespace embd::service {

/// How long making an answer may take.
enum class Length {
  kShort,   ///< made at once, on gRPC's thread; by the workers where the request is large
  kMedium,  ///< made by the workers: milliseconds up to a second
  kLong,    ///< made by the diagnostics' own threads, so that nothing else waits for it
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
    auto* const reactor = new RawUnary(backend, method, context, std::move(answer));
    const auto request_bytes = static_cast<std::int64_t>(request->Length());
    const absl::Status refused = reactor->call_.Enter(request_bytes);
    if (!refused.ok()) {
      reactor->call_.Log("", -1, -1, request_bytes, 0, refused);
      reactor->Finish(reactor->call_.End(refused));
      return reactor;
    }
    const auto run = [reactor, request, reply] { reactor->Run(*request, reply); };
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
  RawUnary(Backend* backend, Method method, grpc::CallbackServerContext* context, Answer answer)
      : backend_(*backend), call_(&backend->gate, method, context), answer_(std::move(answer)) {}

  void Run(const grpc::ByteBuffer& request, grpc::ByteBuffer* reply) {
    Request message;
    const absl::Status status = WithinMemory([&] {
      if (absl::Status gone = call_.Interrupted(); !gone.ok()) return gone;
      if (absl::Status bad = call_.Decode(request, backend_.max_request_bytes, &message); !bad.ok()) return bad;
      const absl::StatusOr<Response> response = answer_(message, call_);
      return response.ok() ? Deliver(*response, reply) : response.status();
    });
    absl::string_view model;
    if constexpr (requires { message.model(); }) model = message.model();
    call_.Log(model, -1, -1, static_cast<std::int64_t>(request.Length()),
              status.ok() ? static_cast<std::int64_t>(reply->Length()) : 0, status);
    if (counted_.has_value() && call_.MayStall()) {
      watched_.emplace(&call_.gate().stalls(), NameOf(call_.method()), call_.context());
      watched_->BeginWait();
    }
    Finish(call_.End(status));
  }

  // A large reply is in flight until its caller has read it, like one that holds a tensor.
  absl::Status Deliver(const Response& response, grpc::ByteBuffer* reply) {
    const std::size_t size = response.ByteSizeLong();
    if (static_cast<std::int64_t>(size) > backend_.max_bytes_in_flight) {
      return core::Error(absl::StatusCode::kResourceExhausted, "RESPONSE_TOO_LARGE",
                         absl::StrCat("the reply takes ", size, " bytes, which exceeds max_bytes_in_flight ",
                                      backend_.max_bytes_in_flight, " of this server; ask for less in one call"));
    }
    if (size > kCountedBytes) {
      auto counted = backend_.buffers->Count(size);
      if (!counted.ok()) return counted.status();
      counted_.emplace(*std::move(counted));
    }
    *reply = Encode(response);
    return absl::OkStatus();
  }

  static constexpr std::size_t kCountedBytes = std::size_t{16} << 10;

  Backend& backend_;
  std::optional<CountedBytes> counted_;  // set where the reply is large
  std::optional<StallWatch::Reply> watched_;
  Call call_;
  const Answer answer_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_RAW_UNARY_H_

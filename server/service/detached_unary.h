#ifndef EMBD_SERVER_SERVICE_DETACHED_UNARY_H_
#define EMBD_SERVER_SERVICE_DETACHED_UNARY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"
#include "server/core/threads/mutex.h"
#include "server/service/backend.h"
#include "server/service/call.h"
#include "server/service/overload.h"
#include "server/service/worker_pool.h"

namespace embd::service {

/// A unary call that starts work which cannot be broken off, such as a load: where the caller goes away, or the server
/// has no more time, the call ends at once, and the work goes on without it.
///
/// Lives until gRPC is done with the call. `Request` is small, and read on gRPC's own thread.
template <typename Request, typename Response>
class DetachedUnary final : public grpc::ServerUnaryReactor {
 public:
  /// Does the work; `asked` is when the call arrived. Must not use the call, which may have ended.
  using Answer =
      std::function<absl::StatusOr<Response>(const Request& request, std::chrono::steady_clock::time_point asked)>;

  /// `workers` do the work. They must end before what `answer` uses.
  static grpc::ServerUnaryReactor* Start(Backend* backend, WorkerPool* workers, Method method,
                                         grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* reply, Answer answer) {
    auto* const reactor = new DetachedUnary(&backend->gate, method, context, reply);
    const std::shared_ptr<Attached> attached = reactor->attached_;
    absl::Status status = reactor->call_.Enter(static_cast<std::int64_t>(request->Length()));
    auto message = std::make_shared<Request>();
    if (status.ok()) {
      status = WithinMemory([&] { return reactor->call_.Decode(*request, backend->max_request_bytes, message.get()); });
    }
    if (!status.ok()) {
      attached->End(*message, status);
      return reactor;
    }
    reactor->message_ = message;
    workers->Add([attached, message, answer = std::move(answer), asked = reactor->call_.started()] {
      absl::StatusOr<Response> response = absl::UnknownError("");
      const absl::Status done = WithinMemory([&] {
        response = answer(*message, asked);
        return response.status();
      });
      done.ok() ? attached->End(*message, *response) : attached->End(*message, done);
    });
    return reactor;
  }

  void OnCancel() override {
    const std::shared_ptr<Attached> attached = attached_;
    call_.OnCancelled();
    const absl::Status interrupted = call_.Interrupted();
    attached->End(*message_, interrupted);
  }
  void OnDone() override { delete this; }

 private:
  // What is between the call and the work. Whichever ends first lets go of the reactor.
  struct Attached {
    explicit Attached(DetachedUnary* of) : reactor(of) {}

    void End(const Request& message, const absl::StatusOr<Response>& result) {
      const core::MutexLock lock(&mutex);
      DetachedUnary* const ending = std::exchange(reactor, nullptr);
      if (ending != nullptr) ending->End(message, result);
    }

    core::Mutex mutex;
    DetachedUnary* reactor ABSL_GUARDED_BY(mutex);
  };

  DetachedUnary(Gate* gate, Method method, grpc::CallbackServerContext* context, grpc::ByteBuffer* reply)
      : call_(gate, method, context), reply_(*reply), attached_(std::make_shared<Attached>(this)) {}

  void End(const Request& message, const absl::StatusOr<Response>& result) {
    std::int64_t reply_bytes = 0;
    if (result.ok()) {
      reply_ = Encode(*result);
      reply_bytes = static_cast<std::int64_t>(reply_.Length());
    }
    absl::string_view model;
    if constexpr (requires { message.name(); }) model = message.name();
    if constexpr (requires { message.model_name(); }) model = message.model_name();
    call_.Log(model, -1, -1, static_cast<std::int64_t>(message.ByteSizeLong()), reply_bytes, result.status());
    Finish(call_.End(result.status()));
  }

  Call call_;
  grpc::ByteBuffer& reply_;
  std::shared_ptr<const Request> message_ = std::make_shared<Request>();
  const std::shared_ptr<Attached> attached_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_DETACHED_UNARY_H_

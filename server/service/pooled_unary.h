#ifndef EMBD_SERVER_SERVICE_POOLED_UNARY_H_
#define EMBD_SERVER_SERVICE_POOLED_UNARY_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"
#include "server/service/backend.h"
#include "server/service/call.h"
#include "server/service/overload.h"

namespace embd::service {

/// A unary call whose reply is made in pooled buffers: decode, plan, answer. Large requests and large work go to the
/// workers. Lives until gRPC is done with the call.
///
/// `Work` has a type `Request` and these functions, of which `Plan` may take what it needs out of the request and
/// `Answer` asks `interrupted` between blocks of work:
///
///     static absl::StatusOr<Work> Plan(const Backend&, Request&, const Call&)
///     bool IsLarge() const
///     absl::StatusOr<grpc::ByteBuffer> Answer(Backend&, const Request&, const std::function<absl::Status()>&
///                                             interrupted) const
///     std::int64_t batch_size() const, sequence_length() const
template <typename Work>
class PooledUnary final : public grpc::ServerUnaryReactor {
 public:
  /// `rpc` is a literal.
  static grpc::ServerUnaryReactor* Start(Backend* backend, absl::string_view rpc, grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
    auto* const reactor = new PooledUnary(backend, rpc, context, request, reply);
    if (IsLarge(reactor->request_)) {
      backend->workers.Add([reactor] { reactor->PlanAndAnswer(/*on_worker=*/true); });
    } else {
      reactor->PlanAndAnswer(/*on_worker=*/false);
    }
    return reactor;
  }

  void OnCancel() override { call_.OnCancelled(); }
  void OnDone() override { delete this; }

 private:
  PooledUnary(Backend* backend, absl::string_view rpc, grpc::CallbackServerContext* context,
              const grpc::ByteBuffer* request, grpc::ByteBuffer* reply)
      : backend_(*backend),
        call_(rpc, context),
        // gRPC's own object for this call, which it does not read again
        request_(const_cast<grpc::ByteBuffer&>(*request)),
        reply_(*reply) {}

  void PlanAndAnswer(bool on_worker) {
    const absl::Status status = WithinMemory([&] { return Plan(on_worker); });
    if (!status.ok()) return End(status);
    if (work_->IsLarge() && !on_worker) return backend_.workers.Add([this] { Answer(); });
    Answer();
  }

  absl::Status Plan(bool on_worker) {
    if (on_worker) {  // the caller may have gone while this waited
      if (absl::Status status = call_.Interrupted(); !status.ok()) return status;
    }
    if (absl::Status status = Decode(request_, backend_.max_request_bytes, &message_); !status.ok()) return status;
    auto work = Work::Plan(backend_, message_, call_);
    if (!work.ok()) return work.status();
    work_.emplace(*std::move(work));
    return absl::OkStatus();
  }

  void Answer() {
    End(WithinMemory([this] {
      auto framed = work_->Answer(backend_, message_, [this] { return call_.Interrupted(); });
      if (framed.ok()) reply_.Swap(&*framed);
      return framed.status();
    }));
  }

  void End(const absl::Status& status) {
    call_.Log(message_.model(), work_ ? work_->batch_size() : -1, work_ ? work_->sequence_length() : -1,
              static_cast<std::int64_t>(request_.Length()),
              status.ok() ? static_cast<std::int64_t>(reply_.Length()) : 0, status);
    LetGoOfTheRequest();
    Finish(call_.Seal(status));
  }

  // OnDone comes when the caller has read the reply, which a slow one does late; only the reply is held for it.
  void LetGoOfTheRequest() {
    typename Work::Request().Swap(&message_);
    work_.reset();
    request_.Clear();
  }

  Backend& backend_;
  Call call_;
  grpc::ByteBuffer& request_;
  grpc::ByteBuffer& reply_;
  typename Work::Request message_;
  std::optional<Work> work_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_POOLED_UNARY_H_

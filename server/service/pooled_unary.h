#ifndef EMBD_SERVER_SERVICE_POOLED_UNARY_H_
#define EMBD_SERVER_SERVICE_POOLED_UNARY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"
#include "server/core/threads/mutex.h"
#include "server/service/backend.h"
#include "server/service/call.h"
#include "server/service/overload.h"
#include "server/service/phase_clock.h"
#include "server/service/reply_buffers.h"
#include "server/service/stall_watch.h"
#include "server/service/worker_pool.h"

namespace embd::service {

/// One call whose reply is made in pooled buffers: decode, plan, answer.
///
/// `Work` has a type `Request`, a type `Context` that is Backend or is derived from it, and these functions, of which
/// `Plan` may take what it needs out of the request and `Answer` asks `interrupted` between blocks of work:
///
///     static absl::StatusOr<Work> Plan(const Context&, Request&, const Call&)
///     static const std::string& ModelName(const Request&)
///     static absl::Status CheckEncoding(const grpc::ByteBuffer&)   optional: refuses what must not even be decoded
///     static bool PlansLong(const Request&)    optional: whether Plan should not be done on gRPC's own threads
///     bool IsLarge() const
///     absl::StatusOr<grpc::ByteBuffer> Answer(Context&, const Request&, const std::function<absl::Status()>&
///                                             interrupted) const
///     std::int64_t batch_size() const, sequence_length() const
///
/// `kLargeRequestBytes` (optional) says from which size on its requests are not even decoded on gRPC's own threads.
/// It says by `kIsInference` whether its calls count in the model's statistics. Where they do, `Answer` also takes a
/// `PhaseClock*`, which it tells when all is composed and only needs framing.
///
/// Thread safety: as Call.
template <typename Work>
class PooledCall {
 public:
  using Context = typename Work::Context;

  /// `request` and `reply` are gRPC's own for this call.
  PooledCall(Context* backend, Method method, grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
             grpc::ByteBuffer* reply)
      : backend_(*backend),
        buffers_(BuffersOf(*backend)),
        call_(&backend->gate, method, context),
        request_(const_cast<grpc::ByteBuffer&>(*request)),  // which gRPC does not read again
        reply_(*reply) {}

  void OnCancelled() { call_.OnCancelled(); }

  /// As Call::Enter.
  [[nodiscard]] absl::Status Enter() { return call_.Enter(static_cast<std::int64_t>(request_.Length())); }

  /// Has the call ended where its reply waits for the reader beyond max_stall.
  void Watch(std::optional<StallWatch::Reply>* watched) const {
    watched->emplace(&call_.gate().stalls(), NameOf(call_.method()), call_.context());
  }

  /// Whether the reply, which has been made, could hold memory that others need for ever: a long one, or any one where
  /// replies hold much already, of a call that does not end in time by itself.
  [[nodiscard]] bool MayPinReply() const {
    const ReplyBuffers& buffers = *buffers_;
    const bool matters =
        reply_.Length() > kWatchedBytes || buffers.bytes_in_flight() > buffers.max_bytes_in_flight() / 2;
    return matters && call_.MayStall();
  }

  /// Whether nothing of the call should be done on gRPC's own threads.
  [[nodiscard]] bool HasLargeRequest() const {
    if constexpr (requires { Work::kLargeRequestBytes; }) return request_.Length() > Work::kLargeRequestBytes;
    return service::IsLarge(request_);
  }

  /// To be told before the call, which has been read, waits for a thread.
  void BeginQueue() {
    if constexpr (Work::kIsInference) {
      backend_.statistics.CountWaiting(Work::ModelName(message_), 1);
      is_counted_waiting_ = true;
    }
  }

  /// To be told when the call has come to a thread that it waited for.
  void EndQueue() {
    clock_.EndQueue();
    if (std::exchange(is_counted_waiting_, false)) {
      backend_.statistics.CountWaiting(Work::ModelName(message_), -1);
    }
  }

  /// Decodes.
  [[nodiscard]] absl::Status Read() {
    const absl::Status status = WithinMemory([this]() -> absl::Status {
      if constexpr (requires { Work::CheckEncoding(request_); }) {
        if (absl::Status bad = Work::CheckEncoding(request_); !bad.ok()) return bad;
      }
      return call_.Decode(request_, backend_.max_request_bytes, &message_);
    });
    if (!status.ok()) message_.Clear();  // what cannot be read names no model
    return status;
  }

  /// Whether nothing more of the call, once it is decoded, should be done on gRPC's own threads.
  [[nodiscard]] bool HasLongPlan() const {
    if constexpr (requires { Work::PlansLong(message_); }) return Work::PlansLong(message_);
    return false;
  }

  /// Plans what has been decoded.
  [[nodiscard]] absl::Status Plan() {
    return WithinMemory([this] {
      // The caller may have gone while this waited. Asked now that it is known which model's failure that is.
      if (absl::Status status = call_.Interrupted(); !status.ok()) return status;
      auto work = Work::Plan(backend_, message_, call_);
      if (!work.ok()) return work.status();
      work_.emplace(*std::move(work));
      clock_.EndInput();
      return absl::OkStatus();
    });
  }

  /// Whether the answer to what has been planned should not be made on gRPC's own threads.
  [[nodiscard]] bool HasLargeWork() const { return work_->IsLarge(); }

  /// Answers what has been planned. Returns how the call ends.
  [[nodiscard]] grpc::Status Answer() {
    return End(WithinMemory([this] {
      const auto interrupted = [this] { return call_.Interrupted(); };
      auto framed = [&] {
        if constexpr (Work::kIsInference) return work_->Answer(backend_, message_, interrupted, &clock_);
        if constexpr (!Work::kIsInference) return work_->Answer(backend_, message_, interrupted);
      }();
      if (!framed.ok()) return framed.status();
      if constexpr (Work::kIsInference) {
        backend_.statistics.CountSuccess(
            Work::ModelName(message_), work_->batch_size(), clock_.End(),
            {.sequence_length = work_->sequence_length(), .reply_bytes = framed->Length()});
      }
      reply_.Swap(&*framed);
      return absl::OkStatus();
    }));
  }

  /// Returns how the call ends whose planning or answering ended so.
  [[nodiscard]] grpc::Status End(const absl::Status& status) {
    const std::string& model = Work::ModelName(message_);
    if constexpr (Work::kIsInference) {
      if (!status.ok()) backend_.statistics.CountFailure(model, status.code(), clock_.End().total);
    }
    call_.Log(model, work_ ? work_->batch_size() : -1, work_ ? work_->sequence_length() : -1,
              static_cast<std::int64_t>(request_.Length()),
              status.ok() ? static_cast<std::int64_t>(reply_.Length()) : 0, status);
    request_.Clear();
    return call_.End(status);
  }

 private:
  static constexpr std::size_t kWatchedBytes = std::size_t{1} << 20;

  static ReplyBuffers* BuffersOf(Context& context) {
    if constexpr (requires { context.buffers; }) return context.buffers.get();
    if constexpr (!requires { context.buffers; }) return context.backend.buffers.get();
  }

  Context& backend_;
  ReplyBuffers* const buffers_;
  Call call_;
  PhaseClock clock_;
  grpc::ByteBuffer& request_;
  grpc::ByteBuffer& reply_;
  typename Work::Request message_;
  std::optional<Work> work_;
  bool is_counted_waiting_ = false;
};

/// A PooledCall that is answered by the workers. Lives until gRPC is done with the call.
template <typename Work>
class PooledReactor final : public grpc::ServerUnaryReactor {
 public:
  PooledReactor(WorkerPool* workers, std::unique_ptr<PooledCall<Work>> call) : workers_(*workers) {
    const core::MutexLock lock(&mutex_);  // gRPC orders this before OnCancel, but out of the thread sanitizer's sight
    call_ = std::move(call);
  }

  void ReadPlanAndAnswer() {
    workers_.Add([this] {
      call_->EndQueue();
      const absl::Status status = call_->Read();
      if (!status.ok()) return End(call_->End(status));
      PlanAndAnswerNow();
    });
  }

  void PlanAndAnswer() {
    call_->BeginQueue();
    workers_.Add([this] {
      call_->EndQueue();
      PlanAndAnswerNow();
    });
  }

  void Answer() {
    call_->BeginQueue();
    workers_.Add([this] {
      call_->EndQueue();
      End(call_->Answer());
    });
  }

  void OnCancel() override {
    const core::MutexLock lock(&mutex_);
    if (call_ != nullptr) call_->OnCancelled();
  }
  void OnDone() override { delete this; }

 private:
  void PlanAndAnswerNow() {
    const absl::Status status = call_->Plan();
    End(status.ok() ? call_->Answer() : call_->End(status));
  }

  // OnDone comes when the caller has read the reply, which a slow one does late; only the reply is held for it.
  void End(const grpc::Status& status) {
    {
      const core::MutexLock lock(&mutex_);
      call_->Watch(&watched_);
      call_.reset();
    }
    watched_->BeginWait();
    Finish(status);
  }

  WorkerPool& workers_;
  core::Mutex mutex_;  // between the end of the call and its cancellation
  std::unique_ptr<PooledCall<Work>> call_;
  std::optional<StallWatch::Reply> watched_;
};

/// Ends a call that has been answered, and has it ended sooner where the caller does not read.
class WatchedReply final : public grpc::ServerUnaryReactor {
 public:
  template <typename Work>
  WatchedReply(const PooledCall<Work>& call, const grpc::Status& status) {
    call.Watch(&watched_);
    watched_->BeginWait();
    Finish(status);
  }

  void OnDone() override { delete this; }

 private:
  std::optional<StallWatch::Reply> watched_;
};

/// Answers a unary call: a small one at once, which spares gRPC from handing the end of the call to another thread; a
/// large one by the workers.
template <typename Work>
grpc::ServerUnaryReactor* AnswerPooled(typename Work::Context* backend, Method method,
                                       grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) {
  auto call = std::make_unique<PooledCall<Work>>(backend, method, context, request, reply);
  absl::Status planned = call->Enter();
  if (planned.ok() && call->HasLargeRequest()) {
    auto* const reactor = new PooledReactor<Work>(&backend->workers, std::move(call));
    reactor->ReadPlanAndAnswer();
    return reactor;
  }
  if (planned.ok()) planned = call->Read();
  if (planned.ok() && call->HasLongPlan()) {
    auto* const reactor = new PooledReactor<Work>(&backend->workers, std::move(call));
    reactor->PlanAndAnswer();
    return reactor;
  }
  if (planned.ok()) planned = call->Plan();
  if (planned.ok() && call->HasLargeWork()) {
    auto* const reactor = new PooledReactor<Work>(&backend->workers, std::move(call));
    reactor->Answer();
    return reactor;
  }
  const grpc::Status ended = planned.ok() ? call->Answer() : call->End(planned);
  if (call->MayPinReply()) return new WatchedReply(*call, ended);
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(ended);
  return reactor;
}

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_POOLED_UNARY_H_

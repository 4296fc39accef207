// Hot path: no lock that another request holds for long, no allocation per row, no log line above debug.
#include "server/service/embed_stream_reactor.h"

#include <deque>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "proto/wire/status.h"
#include "server/core/error.h"
#include "server/core/threads/mutex.h"
#include "server/service/call.h"
#include "server/service/embed_answer.h"
#include "server/service/embed_target.h"
#include "server/service/overload.h"
#include "server/service/phase_clock.h"

namespace embd::service {
namespace {

// At most one read, one answer being made and one write are under way at a time: a read starts only when the last
// request is answered, so answers come in order. Lives until OnDone; gRPC calls that after Finish and all started
// operations.
class EmbedStreamReactor final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  EmbedStreamReactor(Backend* backend, grpc::CallbackServerContext* context)
      : backend_(*backend), call_("EmbedStream", context) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    clock_ = PhaseClock();
    if (!ok) {
      std::optional<grpc::Status> end;
      {
        const core::MutexLock lock(&mutex_);
        reads_done_ = true;
        end = Advance();
      }
      if (end.has_value()) Finish(*end);
    } else if (IsLarge(request_)) {
      backend_.workers.Add([this] { Answer(/*on_worker=*/true); });
    } else {
      Answer(/*on_worker=*/false);
    }
  }

  void OnWriteDone(bool ok) override {
    std::optional<grpc::Status> end;
    grpc::ByteBuffer written;  // freed after the lock
    {
      const core::MutexLock lock(&mutex_);
      writing_ = false;
      waiting_bytes_ -= waiting_.front().Length();
      written.Swap(&waiting_.front());
      waiting_.pop_front();
      broken_ = broken_ || !ok;
      end = Advance();
    }
    if (end.has_value()) Finish(*end);
  }

  void OnCancel() override { call_.OnCancelled(); }
  void OnDone() override { delete this; }

 private:
  static constexpr std::size_t kMaxWaiting = 64;
  static constexpr std::size_t kMaxRequestIdBytes = 1024;
  static constexpr std::size_t kMaxWaitingBytes = std::size_t{16} << 20;

  void Answer(bool on_worker) {
    call_.Restart();
    if (on_worker) clock_.EndQueue();
    absl::Status status = Read();
    if (!status.ok()) return Refuse(status);
    std::optional<core::EmbedPlan> plan;
    std::optional<EmbedTarget> target;
    status = WithinMemory([&] {
      if (on_worker) {  // The caller may have gone while this waited. Asked once it is known whose failure that is.
        if (absl::Status interrupted = call_.Interrupted(); !interrupted.ok()) return interrupted;
      }
      auto created = PlanEmbed(backend_, message_.mutable_request(), backend_.limits);
      if (!created.ok()) return created.status();
      plan.emplace(*std::move(created));
      auto found = FindTarget(backend_, call_, message_.request(), *plan);
      if (!found.ok()) return found.status();
      target = *std::move(found);
      return absl::OkStatus();
    });
    if (!status.ok()) return Refuse(status);
    clock_.EndInput();
    if (IsLarge(*plan) && !on_worker) {
      backend_.workers.Add([this, plan = *std::move(plan), target = std::move(target)] {
        clock_.EndQueue();
        Compose(plan, target);
      });
    } else {
      Compose(*plan, target);
    }
  }

  absl::Status Read() {
    absl::Status status = WithinMemory([this] { return Decode(request_, backend_.max_request_bytes, &message_); });
    if (!status.ok()) {
      message_.Clear();  // nothing of what could not be read is echoed, and it names no model
      return status;
    }
    if (const std::size_t size = message_.request_id().size(); size > kMaxRequestIdBytes) {
      message_.clear_request_id();
      return core::InvalidArgument("INVALID_OPTION", absl::StrCat("request_id has ", size, " bytes; at most ",
                                                                  kMaxRequestIdBytes, " are allowed"));
    }
    return absl::OkStatus();
  }

  void Compose(const core::EmbedPlan& plan, const std::optional<EmbedTarget>& target) {
    grpc::ByteBuffer reply;
    const absl::Status status = WithinMemory([&] {
      auto framed = target.has_value() ? ComposeTo(*target, plan) : ComposeWhole(plan);
      if (!framed.ok()) return framed.status();
      backend_.statistics.CountSuccess(message_.request().model(), plan.batch_size(), clock_.End());
      reply.Swap(&*framed);
      return absl::OkStatus();
    });
    if (!status.ok()) return Refuse(status);
    call_.Log(message_.request().model(), plan.batch_size(), plan.sequence_length(),
              static_cast<std::int64_t>(request_.Length()), static_cast<std::int64_t>(reply.Length()),
              absl::OkStatus());
    Push(reply);
  }

  absl::StatusOr<grpc::ByteBuffer> ComposeWhole(const core::EmbedPlan& plan) {
    auto buffer = ComposeReply(backend_, plan, [this] { return call_.Interrupted(); });
    if (!buffer.ok()) return buffer.status();
    clock_.EndCompute();
    return FrameStreamReply(message_.request_id(), index_, plan, *std::move(buffer));
  }

  absl::StatusOr<grpc::ByteBuffer> ComposeTo(const EmbedTarget& target, const core::EmbedPlan& plan) {
    absl::Status status = ComposeToTarget(backend_, plan, target, [this] { return call_.Interrupted(); });
    if (!status.ok()) return status;
    clock_.EndCompute();
    v1::EmbedStreamResponse item;
    item.set_request_id(message_.request_id());
    item.set_index(index_);
    *item.mutable_response() = TargetReply(plan, target);
    return Encode(item);
  }

  void Refuse(const absl::Status& status) {
    backend_.statistics.CountFailure(message_.request().model(), clock_.End().total);
    v1::EmbedStreamResponse item;
    item.set_request_id(message_.request_id());
    item.set_index(index_);
    *item.mutable_error() = wire::ToRequestStatus(HideInternal(status));
    call_.Log(message_.request().model(), -1, -1, static_cast<std::int64_t>(request_.Length()), 0, status);
    Push(Encode(item));
  }

  void Push(const grpc::ByteBuffer& reply) {
    ++index_;
    if (IsLarge(request_)) v1::EmbedStreamRequest().Swap(&message_);  // frees it; a small one's memory is used again
    message_.Clear();
    request_.Clear();
    std::optional<grpc::Status> end;
    {
      const core::MutexLock lock(&mutex_);
      waiting_bytes_ += reply.Length();
      waiting_.push_back(reply);  // shares the slices
      idle_ = true;
      end = Advance();
    }
    if (end.has_value()) Finish(*end);
  }

  // Starts what can be started. Returns how the call ends, once there is nothing left to do: the caller finishes it
  // after the lock, since this object may be gone then.
  std::optional<grpc::Status> Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (finished_) return std::nullopt;
    if (!writing_ && !broken_ && !waiting_.empty()) {
      writing_ = true;
      StartWrite(&waiting_.front());
    }
    if (idle_ && !broken_ && !reads_done_ && waiting_.size() < kMaxWaiting && waiting_bytes_ < kMaxWaitingBytes) {
      idle_ = false;
      StartRead(&request_);
    }
    if (writing_ || !(idle_ || reads_done_)) return std::nullopt;
    if (broken_) {
      finished_ = true;
      return call_.Seal(core::Error(absl::StatusCode::kCancelled, "CANCELLED", "the caller has left the stream"));
    }
    if (!reads_done_ || !waiting_.empty()) return std::nullopt;
    finished_ = true;
    return grpc::Status::OK;
  }

  Backend& backend_;
  Call call_;
  // Used by the one answer that is being made.
  grpc::ByteBuffer request_;
  v1::EmbedStreamRequest message_;
  PhaseClock clock_;
  std::int64_t index_ = 0;

  core::Mutex mutex_;
  std::deque<grpc::ByteBuffer> waiting_ ABSL_GUARDED_BY(mutex_);  // the front one is being written
  std::size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool idle_ ABSL_GUARDED_BY(mutex_) = false;  // neither reading nor answering
  bool reads_done_ ABSL_GUARDED_BY(mutex_) = false;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* AnswerEmbedStream(Backend* backend,
                                                                               grpc::CallbackServerContext* context) {
  return new EmbedStreamReactor(backend, context);
}

}  // namespace embd::service

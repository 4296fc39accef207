#ifndef EMBD_SERVER_SERVICE_POOLED_STREAM_H_
#define EMBD_SERVER_SERVICE_POOLED_STREAM_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"
#include "server/core/error.h"
#include "server/core/threads/mutex.h"
#include "server/service/call.h"
#include "server/service/overload.h"
#include "server/service/phase_clock.h"
#include "server/service/stall_watch.h"

namespace embd::service {

/// A bidirectional call: requests are answered one after the other, in order, in pooled buffers. One that is refused
/// gets an answer that says so, and the stream goes on. The caller may send ahead; at most 64 answers, or 16 MiB of
/// them, wait for it to read, and for max_stall at most. The request that is answered counts as in flight.
///
/// `Item` says what the messages are. It has a type `Request`, types `Context` and `Work` as PooledCall has them,
/// and
///
///     static const std::string& ModelName(const Request&)
///     static absl::Status CheckEncoding(const grpc::ByteBuffer&)   refuses what must not even be decoded
///     static bool PlansLong(const Request&)           whether Plan should not be done on gRPC's own threads
///     static absl::Status Check(Request*)             what is wrong with a request besides what its Work checks
///     static absl::StatusOr<Work> Plan(const Context&, Request&, const Call&)
///     static absl::StatusOr<grpc::ByteBuffer> Answer(Context&, const Work&, const Request&, std::int64_t index,
///                                                    const std::function<absl::Status()>& interrupted, PhaseClock*)
///     static grpc::ByteBuffer Refuse(const Request&, std::int64_t index, const absl::Status&)
///
/// where `index` counts the requests of the stream from 0, and `Refuse` gets an empty request if it could not be
/// decoded.
///
/// At most one read, one answer being made and one write are under way at a time: a read starts only when the last
/// request is answered, so answers come in order. Lives until OnDone; gRPC calls that after Finish and all started
/// operations.
template <typename Item>
class PooledStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  using Request = typename Item::Request;
  using Context = typename Item::Context;
  using Work = typename Item::Work;

  PooledStream(Context* context, Method method, grpc::CallbackServerContext* call)
      : context_(*context),
        call_(&context->gate, method, call),
        watched_(&context->gate.stalls(), NameOf(method), call) {
    if (const absl::Status refused = call_.Enter(); !refused.ok()) {
      call_.Log("", -1, -1, 0, 0, refused);
      Finish(call_.End(refused));
    } else {
      StartRead(&request_);
    }
  }

  void OnReadDone(bool ok) override {
    clock_ = PhaseClock();
    call_.Restart();
    if (!ok) {
      std::optional<grpc::Status> end;
      {
        const core::MutexLock lock(&mutex_);
        reads_done_ = true;
        end = Advance();
      }
      if (end.has_value()) Finish(*end);
    } else if (absl::Status full = call_.EnterItem(static_cast<std::int64_t>(request_.Length())); !full.ok()) {
      message_.Clear();
      Refuse(full);
    } else if (service::IsLarge(request_)) {
      context_.workers.Add([this] { Read(/*on_worker=*/true); });
    } else {
      Read(/*on_worker=*/false);
    }
  }

  void OnWriteDone(bool ok) override {
    std::optional<grpc::Status> end;
    grpc::ByteBuffer written;  // freed after the lock
    {
      const core::MutexLock lock(&mutex_);
      writing_ = false;
      watched_.EndWait();
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
  static constexpr std::size_t kMaxWaitingBytes = std::size_t{16} << 20;

  void Read(bool on_worker) {
    if (on_worker) clock_.EndQueue();
    const absl::Status status = WithinMemory([this]() -> absl::Status {
      if (absl::Status bad = Item::CheckEncoding(request_); !bad.ok()) return bad;
      return call_.Decode(request_, context_.max_request_bytes, &message_);
    });
    if (!status.ok()) {
      message_.Clear();  // nothing of what could not be read is echoed, and it names no model
      return Refuse(status);
    }
    if (on_worker || !Item::PlansLong(message_)) return Plan(on_worker);
    context_.statistics.CountWaiting(Item::ModelName(message_), 1);
    context_.workers.Add([this] {
      clock_.EndQueue();
      context_.statistics.CountWaiting(Item::ModelName(message_), -1);
      Plan(/*on_worker=*/true);
    });
  }

  void Plan(bool on_worker) {
    const absl::Status status = WithinMemory([&] {
      if (on_worker) {  // The caller may have gone while this waited. Asked once it is known whose failure that is.
        if (absl::Status interrupted = call_.Interrupted(); !interrupted.ok()) return interrupted;
      }
      if (absl::Status bad = Item::Check(&message_); !bad.ok()) return bad;
      auto work = Item::Plan(context_, message_, call_);
      if (!work.ok()) return work.status();
      work_.emplace(*std::move(work));
      return absl::OkStatus();
    });
    if (!status.ok()) return Refuse(status);
    clock_.EndInput();
    if (work_->IsLarge() && !on_worker) {
      context_.statistics.CountWaiting(Item::ModelName(message_), 1);
      context_.workers.Add([this] {
        clock_.EndQueue();
        context_.statistics.CountWaiting(Item::ModelName(message_), -1);
        Answer();
      });
    } else {
      Answer();
    }
  }

  void Answer() {
    grpc::ByteBuffer reply;
    const absl::Status status = WithinMemory([&] {
      auto framed = Item::Answer(
          context_, *work_, message_, index_, [this] { return call_.Interrupted(); }, &clock_);
      if (!framed.ok()) return framed.status();
      context_.statistics.CountSuccess(Item::ModelName(message_), work_->batch_size(), clock_.End(),
                                       {.sequence_length = work_->sequence_length(), .reply_bytes = framed->Length()});
      reply.Swap(&*framed);
      return absl::OkStatus();
    });
    if (!status.ok()) return Refuse(status);
    call_.Log(Item::ModelName(message_), work_->batch_size(), work_->sequence_length(),
              static_cast<std::int64_t>(request_.Length()), static_cast<std::int64_t>(reply.Length()),
              absl::OkStatus());
    Push(reply);
  }

  void Refuse(const absl::Status& status) {
    context_.statistics.CountFailure(Item::ModelName(message_), status.code(), clock_.End().total);
    call_.Log(Item::ModelName(message_), -1, -1, static_cast<std::int64_t>(request_.Length()), 0, status);
    Push(Item::Refuse(message_, index_, call_.Hide(status)));
  }

  void Push(const grpc::ByteBuffer& reply) {
    ++index_;
    work_.reset();
    if (service::IsLarge(request_)) Request().Swap(&message_);  // frees it; a small one's memory is used again
    message_.Clear();
    request_.Clear();
    call_.LeaveItem();
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
      watched_.BeginWait();
      StartWrite(&waiting_.front());
    }
    if (idle_ && !broken_ && !reads_done_ && waiting_.size() < kMaxWaiting && waiting_bytes_ < kMaxWaitingBytes) {
      idle_ = false;
      StartRead(&request_);
    }
    if (writing_ || !(idle_ || reads_done_)) return std::nullopt;
    if (broken_) {
      finished_ = true;
      return call_.End(core::Error(absl::StatusCode::kCancelled, "CANCELLED", "the caller has left the stream"));
    }
    if (!reads_done_ || !waiting_.empty()) return std::nullopt;
    finished_ = true;
    return call_.End(absl::OkStatus());
  }

  Context& context_;
  Call call_;
  StallWatch::Reply watched_;  // the answer that is being written
  // Used by the one answer that is being made.
  grpc::ByteBuffer request_;
  Request message_;
  std::optional<Work> work_;
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

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_POOLED_STREAM_H_

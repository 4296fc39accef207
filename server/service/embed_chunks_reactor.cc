// Hot path: no lock that another request holds for long, no allocation per row, no log line above debug.
#include "server/service/embed_chunks_reactor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "server/core/error.h"
#include "server/service/call.h"
#include "server/service/embed_chunks.h"
#include "server/service/overload.h"
#include "server/service/phase_clock.h"
#include "server/service/stall_watch.h"

namespace embd::service {
namespace {

// One thread at a time works on it: the one that starts the call, then whoever is told that a message is written. So
// nothing of it may be touched after StartWrite, whose OnWriteDone may already run elsewhere. Lives until OnDone.
class EmbedChunksReactor final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  static EmbedChunksReactor* Start(Backend* backend, grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request) {
    auto* const reactor = new EmbedChunksReactor(backend, context, request);
    if (const absl::Status refused = reactor->call_.Enter(reactor->request_bytes_); !refused.ok()) {
      reactor->End(refused);
      return reactor;
    }
    if (IsLarge(reactor->request_)) {
      backend->workers.Add([reactor] { reactor->Begin(/*on_worker=*/true); });
    } else {
      reactor->Begin(/*on_worker=*/false);
    }
    return reactor;
  }

  void OnWriteDone(bool ok) override {
    watched_.EndWait();
    clock_.Skip();     // the time of the caller, who reads
    message_.Clear();  // the memory may come back for the next message
    if (ok) return GoOn(/*on_worker=*/false);
    absl::Status status = call_.Interrupted();
    End(!status.ok() ? status : core::Error(absl::StatusCode::kCancelled, "CANCELLED", "the caller has left the call"));
  }

  void OnCancel() override { call_.OnCancelled(); }
  void OnDone() override { delete this; }

 private:
  EmbedChunksReactor(Backend* backend, grpc::CallbackServerContext* context, const grpc::ByteBuffer* request)
      : backend_(*backend),
        call_(&backend->gate, Method::kEmbedChunks, context),
        watched_(&backend->gate.stalls(), NameOf(Method::kEmbedChunks), context),
        // gRPC's own object for this call, which it does not read again
        request_(const_cast<grpc::ByteBuffer&>(*request)),
        request_bytes_(static_cast<std::int64_t>(request->Length())) {}

  void Begin(bool on_worker) {
    if (on_worker) clock_.EndQueue();
    const absl::Status status = WithinMemory([&] { return Plan(on_worker); });
    request_.Clear();
    if (!status.ok()) return End(status);
    GoOn(on_worker);
  }

  absl::Status Plan(bool on_worker) {
    v1::EmbedChunksRequest message;
    if (absl::Status status = call_.Decode(request_, backend_.max_request_bytes, &message); !status.ok()) return status;
    model_ = message.request().model();
    if (on_worker) {  // The caller may have gone while this waited. Asked once it is known whose failure that is.
      if (absl::Status status = call_.Interrupted(); !status.ok()) return status;
    }
    auto chunks = EmbedChunks::Plan(backend_, &message);
    if (!chunks.ok()) return chunks.status();
    batch_size_ = chunks->plan().batch_size();
    sequence_length_ = chunks->plan().sequence_length();
    chunks_.emplace(*std::move(chunks));
    clock_.EndInput();
    return absl::OkStatus();
  }

  void GoOn(bool on_worker) {
    if (!chunks_->AreLarge() || on_worker) return SendNext();
    backend_.statistics.CountWaiting(model_, 1);
    backend_.workers.Add([this] {
      clock_.EndQueue();
      backend_.statistics.CountWaiting(model_, -1);
      SendNext();
    });
  }

  void SendNext() {
    const absl::Status status = WithinMemory([this] {
      auto message = chunks_->Next(
          backend_, [this] { return call_.Interrupted(); }, &clock_);
      if (!message.ok()) return message.status();
      const std::int64_t bytes = sent_bytes_ + static_cast<std::int64_t>(message->Length());
      if (chunks_->done()) {
        backend_.statistics.CountSuccess(
            model_, batch_size_, clock_.End(),
            {.sequence_length = sequence_length_, .reply_bytes = static_cast<std::size_t>(bytes)});
      }
      sent_bytes_ = bytes;
      message_.Swap(&*message);
      return absl::OkStatus();
    });
    if (!status.ok()) return End(status);
    watched_.BeginWait();
    if (!chunks_->done()) return StartWrite(&message_);
    LogEnd(absl::OkStatus());
    chunks_.reset();  // a slow reader holds the last message only
    StartWriteAndFinish(&message_, grpc::WriteOptions(), call_.End(absl::OkStatus()));
  }

  void End(const absl::Status& status) {
    backend_.statistics.CountFailure(model_, status.code(), clock_.End().total);
    LogEnd(status);
    chunks_.reset();
    Finish(call_.End(status));
  }

  void LogEnd(const absl::Status& status) const {
    call_.Log(model_, batch_size_, sequence_length_, request_bytes_, sent_bytes_, status);
  }

  Backend& backend_;
  Call call_;
  StallWatch::Reply watched_;  // the message that is being sent
  PhaseClock clock_;
  grpc::ByteBuffer& request_;
  const std::int64_t request_bytes_;
  std::string model_;
  std::int64_t batch_size_ = -1;
  std::int64_t sequence_length_ = -1;
  std::optional<EmbedChunks> chunks_;
  grpc::ByteBuffer message_;  // the one that is being sent
  std::int64_t sent_bytes_ = 0;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* AnswerEmbedChunks(Backend* backend, grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request) {
  return EmbedChunksReactor::Start(backend, context, request);
}

}  // namespace embd::service

// Hot path: no lock that another request holds for long, no allocation per row, no log line above debug.
#include "server/service/embed_reactor.h"

#include <optional>
#include <utility>

#include "server/service/call.h"
#include "server/service/embed_answer.h"
#include "server/service/overload.h"

namespace embd::service {
namespace {

// Lives until OnDone, which gRPC calls after Finish; nothing touches it after calling Finish.
class EmbedReactor final : public grpc::ServerUnaryReactor {
 public:
  EmbedReactor(Backend* backend, grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
               grpc::ByteBuffer* reply)
      : backend_(*backend),
        call_("Embed", context),
        request_(
            const_cast<grpc::ByteBuffer&>(*request)),  // gRPC's own object for this call, which it does not read again
        reply_(*reply) {}

  void Start() {
    if (IsLarge(request_)) {
      backend_.workers.Add([this] { Answer(/*on_worker=*/true); });
    } else {
      Answer(/*on_worker=*/false);
    }
  }

  void OnCancel() override { call_.OnCancelled(); }
  void OnDone() override { delete this; }

 private:
  void Answer(bool on_worker) {
    const absl::Status status = WithinMemory([&] { return Plan(on_worker); });
    if (!status.ok()) return End(status);
    if (IsLarge(*plan_) && !on_worker) return backend_.workers.Add([this] { Compose(); });
    Compose();
  }

  absl::Status Plan(bool on_worker) {
    if (on_worker) {  // the caller may have gone while this waited
      if (absl::Status status = call_.Interrupted(); !status.ok()) return status;
    }
    if (absl::Status status = Decode(request_, backend_.max_request_bytes, &message_); !status.ok()) return status;
    auto plan = PlanEmbed(backend_, &message_);
    if (!plan.ok()) return plan.status();
    plan_.emplace(*std::move(plan));
    return absl::OkStatus();
  }

  void Compose() {
    End(WithinMemory([this] {
      auto buffer = ComposeReply(backend_, *plan_, [this] { return call_.Interrupted(); });
      if (!buffer.ok()) return buffer.status();
      grpc::ByteBuffer framed = FrameReply(*plan_, *std::move(buffer));
      reply_.Swap(&framed);
      return absl::OkStatus();
    }));
  }

  void End(const absl::Status& status) {
    call_.Log(message_.model(), plan_ ? plan_->batch_size() : -1, plan_ ? plan_->sequence_length() : -1,
              static_cast<std::int64_t>(request_.Length()),
              status.ok() ? static_cast<std::int64_t>(reply_.Length()) : 0, status);
    LetGoOfTheRequest();
    Finish(call_.Seal(status));
  }

  // OnDone comes when the caller has read the reply, which a slow one does late; only the reply is held for it.
  void LetGoOfTheRequest() {
    v1::EmbedRequest().Swap(&message_);
    plan_.reset();
    request_.Clear();
  }

  Backend& backend_;
  Call call_;
  grpc::ByteBuffer& request_;
  grpc::ByteBuffer& reply_;
  v1::EmbedRequest message_;
  std::optional<core::EmbedPlan> plan_;
};

}  // namespace

grpc::ServerUnaryReactor* AnswerEmbed(Backend* backend, grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  auto* const reactor = new EmbedReactor(backend, context, request, reply);
  reactor->Start();
  return reactor;
}

}  // namespace embd::service

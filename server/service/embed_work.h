#ifndef EMBD_SERVER_SERVICE_EMBED_WORK_H_
#define EMBD_SERVER_SERVICE_EMBED_WORK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "embd/v1/embedding.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/core/engine/embed_plan.h"
#include "server/service/backend.h"
#include "server/service/call.h"
#include "server/service/embed_answer.h"
#include "server/service/embed_target.h"
#include "server/service/phase_clock.h"

namespace embd::service {

/// One EmbedRequest on its way to its reply, for a PooledCall or an item of a PooledStream; the steps are those of
/// embed_answer.h.
class EmbedWork {
 public:
  using Request = v1::EmbedRequest;
  using Context = Backend;
  static constexpr bool kIsInference = true;

  [[nodiscard]] static const std::string& ModelName(const Request& request) { return request.model(); }

  /// Errors: those of PlanEmbed, which takes the bytes of inputs_embeds out of `request`, and of FindTarget.
  [[nodiscard]] static absl::StatusOr<EmbedWork> Plan(const Backend& backend, Request& request, const Call& call) {
    auto plan = PlanEmbed(backend, &request, backend.limits);
    if (!plan.ok()) return plan.status();
    auto target = FindTarget(backend, call, request, *plan);
    if (!target.ok()) return target.status();
    return EmbedWork(*std::move(plan), *std::move(target));
  }

  [[nodiscard]] std::int64_t batch_size() const { return plan_.batch_size(); }
  [[nodiscard]] std::int64_t sequence_length() const { return plan_.sequence_length(); }
  [[nodiscard]] bool IsLarge() const { return service::IsLarge(plan_); }

  /// The encoded EmbedResponse. Errors: those of ComposeReply, or of ComposeToTarget.
  [[nodiscard]] absl::StatusOr<grpc::ByteBuffer> Answer(Backend& backend, const Request& /*request*/,
                                                        const std::function<absl::Status()>& interrupted,
                                                        PhaseClock* clock) const {
    auto buffer = Compose(backend, interrupted, clock);
    if (!buffer.ok()) return buffer.status();
    return buffer->has_value() ? FrameReply(plan_, **std::move(buffer)) : Encode(TargetReply(plan_, *target_));
  }

  /// The encoded EmbedStreamResponse of item `index` of a stream. Errors: as Answer.
  [[nodiscard]] absl::StatusOr<grpc::ByteBuffer> AnswerItem(Backend& backend, const std::string& request_id,
                                                            std::int64_t index,
                                                            const std::function<absl::Status()>& interrupted,
                                                            PhaseClock* clock) const {
    auto buffer = Compose(backend, interrupted, clock);
    if (!buffer.ok()) return buffer.status();
    if (buffer->has_value()) return FrameStreamReply(request_id, index, plan_, **std::move(buffer));
    v1::EmbedStreamResponse item;
    item.set_request_id(request_id);
    item.set_index(index);
    *item.mutable_response() = TargetReply(plan_, *target_);
    return Encode(item);
  }

 private:
  EmbedWork(core::EmbedPlan plan, std::optional<EmbedTarget> target)
      : plan_(std::move(plan)), target_(std::move(target)) {}

  // The composed elements; none where they are in the target.
  [[nodiscard]] absl::StatusOr<std::optional<ReplyBuffer>> Compose(Backend& backend,
                                                                   const std::function<absl::Status()>& interrupted,
                                                                   PhaseClock* clock) const {
    std::optional<ReplyBuffer> composed;
    if (target_.has_value()) {
      if (auto status = ComposeToTarget(backend, plan_, *target_, interrupted); !status.ok()) return status;
    } else {
      auto buffer = ComposeReply(backend, plan_, interrupted);
      if (!buffer.ok()) return buffer.status();
      composed.emplace(*std::move(buffer));
    }
    clock->EndCompute();
    return composed;
  }

  core::EmbedPlan plan_;
  std::optional<EmbedTarget> target_;  // unset: the result goes into the reply
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_EMBED_WORK_H_

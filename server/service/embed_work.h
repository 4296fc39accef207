#ifndef EMBD_SERVER_SERVICE_EMBED_WORK_H_
#define EMBD_SERVER_SERVICE_EMBED_WORK_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "embd/v1/embedding.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/core/engine/embed_plan.h"
#include "server/service/backend.h"
#include "server/service/embed_answer.h"

namespace embd::service {

/// One EmbedRequest on its way to its reply, for a PooledCall; the steps are those of embed_answer.h.
class EmbedWork {
 public:
  using Request = v1::EmbedRequest;

  /// Errors: those of PlanEmbed, which takes the bytes of inputs_embeds out of `request`.
  [[nodiscard]] static absl::StatusOr<EmbedWork> Plan(const Backend& backend, Request& request) {
    auto plan = PlanEmbed(backend, &request, backend.limits);
    if (!plan.ok()) return plan.status();
    return EmbedWork(*std::move(plan));
  }

  [[nodiscard]] std::int64_t batch_size() const { return plan_.batch_size(); }
  [[nodiscard]] std::int64_t sequence_length() const { return plan_.sequence_length(); }
  [[nodiscard]] bool IsLarge() const { return service::IsLarge(plan_); }

  /// Errors: those of ComposeReply.
  [[nodiscard]] absl::StatusOr<grpc::ByteBuffer> Answer(Backend& backend, const Request& /*request*/,
                                                        const std::function<absl::Status()>& interrupted) const {
    auto buffer = ComposeReply(backend, plan_, interrupted);
    if (!buffer.ok()) return buffer.status();
    return FrameReply(plan_, *std::move(buffer));
  }

 private:
  explicit EmbedWork(core::EmbedPlan plan) : plan_(std::move(plan)) {}

  core::EmbedPlan plan_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_EMBED_WORK_H_

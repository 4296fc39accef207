#ifndef EMBD_SERVER_SERVICE_ROTATE_ANSWER_H_
#define EMBD_SERVER_SERVICE_ROTATE_ANSWER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "embd/v1/rotary.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/core/engine/rotate_plan.h"
#include "server/service/backend.h"
#include "server/service/call.h"

namespace embd::service {

/// One RotateRequest on its way to its reply, for a PooledCall.
class RotateWork {
 public:
  using Request = v1::RotateRequest;
  using Context = Backend;
  static constexpr bool kIsInference = false;

  [[nodiscard]] static const std::string& ModelName(const Request& request) { return request.model(); }

  /// Checks the request. Errors: those of ChooseRotary, ToOutputType and RotatePlan::Create; besides INVALID_ARGUMENT
  /// [UNKNOWN_ENUM_VALUE], [INVALID_OPTION] vectors of a type that is not turned, [INVALID_SHAPE] no vectors.
  [[nodiscard]] static absl::StatusOr<RotateWork> Plan(const Backend& backend, const Request& request, const Call&);

  [[nodiscard]] std::int64_t batch_size() const { return plan_.batch_size(); }
  [[nodiscard]] std::int64_t sequence_length() const { return plan_.sequence_length(); }

  /// Whether it takes so long that it must not be done on gRPC's own threads.
  [[nodiscard]] bool IsLarge() const;

  /// The encoded reply: a header slice, and the pooled buffer as the payload slice. `request` is that of `Plan`.
  /// Errors: those of ReplyBuffers::Take and of `interrupted`.
  [[nodiscard]] absl::StatusOr<grpc::ByteBuffer> Answer(Backend& backend, const Request& request,
                                                        const std::function<absl::Status()>& interrupted) const;

 private:
  RotateWork(std::shared_ptr<const core::Model> model, core::RotatePlan plan)
      : model_(std::move(model)), plan_(std::move(plan)) {}

  std::shared_ptr<const core::Model> model_;  // null: none was named
  core::RotatePlan plan_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_ROTATE_ANSWER_H_

#ifndef EMBD_SERVER_OIP_INFER_WORK_H_
#define EMBD_SERVER_OIP_INFER_WORK_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "grpcpp/support/byte_buffer.h"
#include "inference/grpc_service.pb.h"
#include "server/oip/context.h"
#include "server/oip/infer_reply.h"
#include "server/oip/region_span.h"
#include "server/oip/request_bytes.h"
#include "server/oip/requested_outputs.h"
#include "server/service/call.h"
#include "server/service/phase_clock.h"

namespace embd::oip {

/// One ModelInferRequest on its way to its reply, for a service::PooledCall or an item of a stream.
class InferWork {
 public:
  using Request = ::inference::ModelInferRequest;
  using Context = oip::Context;
  static constexpr bool kIsInference = true;

  [[nodiscard]] static const std::string& ModelName(const Request& request) { return request.model_name(); }

  /// Errors: those of CheckFieldCounts.
  [[nodiscard]] static absl::Status CheckEncoding(const grpc::ByteBuffer& request) { return CheckFieldCounts(request); }
  /// Inputs in shared memory may be as long as a request can be, however short the request that names them.
  [[nodiscard]] static bool PlansLong(const Request& request);

  /// Errors: INVALID_ARGUMENT [INVALID_OPTION] an id of more than 1024 bytes.
  [[nodiscard]] static absl::Status CheckId(const Request& request);

  /// Errors: those of CheckId, Servables::Find, ReadInferParameters, ReadOutputs, ReadInputs (which takes raw contents
  /// out of `request`), Servable::Plan and FindRegionSpan; INVALID_ARGUMENT [INVALID_OPTION] a part of a region that
  /// the output does not fit, or that is not aligned to an element; FAILED_PRECONDITION [REGION_DAMAGED];
  /// RESOURCE_EXHAUSTED [RESPONSE_TOO_LARGE] outputs that exceed max_response_bytes together, and those of
  /// ReplyBuffers::Count for inputs in shared memory.
  [[nodiscard]] static absl::StatusOr<InferWork> Plan(const Context& context, Request& request,
                                                      const service::Call& call) {
    return Plan(context, request, call, /*in_stream=*/false);
  }
  [[nodiscard]] static absl::StatusOr<InferWork> Plan(const Context& context, Request& request,
                                                      const service::Call& call, bool in_stream);

  [[nodiscard]] std::int64_t batch_size() const { return inference_->batch_size(); }
  [[nodiscard]] std::int64_t sequence_length() const { return inference_->sequence_length(); }
  [[nodiscard]] bool IsLarge() const { return inference_->IsLarge(); }

  /// The encoded ModelInferResponse; of an item of a stream, the encoded ModelStreamInferResponse.
  ///
  /// Errors: those of ReplyBuffers::Take, Inference::Compute and CheckUndamaged; DEADLINE_EXCEEDED after the request's
  /// own timeout.
  [[nodiscard]] absl::StatusOr<grpc::ByteBuffer> Answer(Context& context, const Request& request,
                                                        const std::function<absl::Status()>& interrupted,
                                                        service::PhaseClock* clock) const;

 private:
  // Where an output goes, other than into the reply.
  struct Target {
    RegionPart part;
    RegionSpan span;
  };

  InferWork() = default;
  [[nodiscard]] absl::Status FindTargets(const Context& context, const service::Call& call,
                                         const std::vector<RequestedOutput>& outputs);
  [[nodiscard]] absl::Status CheckReplySize(const Context& context) const;
  [[nodiscard]] absl::StatusOr<ReplyOutput> Make(service::Backend& backend, std::size_t index,
                                                 absl::FunctionRef<absl::Status()> interrupted) const;

  std::shared_ptr<const Servable> servable_;
  std::optional<service::CountedBytes> counted_;  // of inputs in shared memory, which have been copied
  std::unique_ptr<Inference> inference_;
  std::vector<std::optional<Target>> targets_;  // of each output; unset: the reply
  Contents contents_ = Contents::kRaw;
  bool in_stream_ = false;
  bool final_response_ = false;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
};

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_INFER_WORK_H_

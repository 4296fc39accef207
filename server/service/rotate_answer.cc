// Hot path: no lock that another request holds for long, no allocation a vector, no log line above debug.
#include "server/service/rotate_answer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/wire/data_type.h"
#include "proto/wire/frame.h"
#include "server/core/error.h"
#include "server/service/describe.h"
#include "server/service/output_type.h"
#include "server/service/payload_slice.h"
#include "server/service/rotary_parameters.h"

namespace embd::service {
namespace {

constexpr std::int64_t kLargeAngles = 16384;  // half a millisecond
constexpr std::int64_t kLargeVectors = 4096;
constexpr std::size_t kLargeReplyBytes = std::size_t{3} << 20;

absl::StatusOr<core::RotaryLayout> ToLayout(v1::RotaryOutput layout) {
  switch (layout) {
    case v1::ROTARY_OUTPUT_UNSPECIFIED:
    case v1::ROTARY_OUTPUT_SAME: return core::RotaryLayout::kSame;
    case v1::ROTARY_OUTPUT_SPLIT: return core::RotaryLayout::kSplit;
    default: return UnknownEnum("output_layout", layout, "SAME, SPLIT");
  }
}

absl::StatusOr<core::RotateInput> ToInput(const v1::RotateRequest& request, core::RotaryParameters parameters) {
  const auto layout = ToLayout(request.output_layout());
  if (!layout.ok()) return layout.status();
  const auto output_type = ToOutputType(request.output_type());
  if (!output_type.ok()) return output_type.status();
  if (!request.has_vectors()) return core::InvalidArgument("INVALID_SHAPE", "vectors are missing");
  const v1::Tensor& vectors = request.vectors();
  const auto input_type = ToVectorType("vectors.data_type", vectors.data_type());
  if (!input_type.ok()) return input_type.status();
  core::RotateInput input = {
      .parameters = std::move(parameters),
      .shape = {vectors.shape().begin(), vectors.shape().end()},
      .byte_size = vectors.data().size(),
      .input_type = *input_type,
      .output_type = *output_type,
      .layout = *layout,
      .direction = request.inverse() ? core::RotaryDirection::kBackward : core::RotaryDirection::kForward,
      .position_offsets = {request.position_offsets().begin(), request.position_offsets().end()},
      .position_ids = {request.position_ids().begin(), request.position_ids().end()}};
  if (request.has_sequence_axis()) input.sequence_axis = request.sequence_axis();
  if (request.has_scaling_length()) input.scaling_length = request.scaling_length();
  return input;
}

}  // namespace

absl::StatusOr<RotateWork> RotateWork::Plan(const Backend& backend, const Request& request, const Call&) {
  auto choice = ChooseRotary(backend.models, request);
  if (!choice.ok()) return choice.status();
  auto input = ToInput(request, std::move(choice->parameters));
  if (!input.ok()) return input.status();
  auto plan = core::RotatePlan::Create(*std::move(input), backend.limits);
  if (!plan.ok()) return plan.status();
  return RotateWork(std::move(choice->model), *std::move(plan));
}

bool RotateWork::IsLarge() const {
  return plan_.angle_count() > kLargeAngles || plan_.vector_count() > kLargeVectors ||
         plan_.byte_size() > kLargeReplyBytes;
}

absl::StatusOr<grpc::ByteBuffer> RotateWork::Answer(Backend& backend, const Request& request,
                                                    const std::function<absl::Status()>& interrupted) const {
  if (absl::Status status = interrupted(); !status.ok()) return status;
  auto buffer = backend.buffers->Take(plan_.byte_size());
  if (!buffer.ok()) return buffer.status();
  const std::string& data = request.vectors().data();
  absl::Status status = plan_.Run(std::as_bytes(std::span(data.data(), data.size())), buffer->bytes(), interrupted);
  if (!status.ok()) return status;

  v1::RotateResponse response;
  if (model_ != nullptr) {
    response.set_model(model_->name());
    response.set_model_version(model_->version());
  }
  response.set_attention_factor(plan_.attention_factor());
  v1::Tensor tensor;
  tensor.set_data_type(ToDataType(plan_.input().output_type));
  *tensor.mutable_shape() = request.vectors().shape();
  const std::string header = wire::FrameHeader(
      {{response, v1::RotateResponse::kVectorsFieldNumber}, {tensor, v1::Tensor::kDataFieldNumber}}, plan_.byte_size());
  const grpc::Slice slices[] = {grpc::Slice(header), PayloadSlice(*std::move(buffer))};
  return grpc::ByteBuffer(slices, 2);
}

}  // namespace embd::service

#include "server/service/rotary_table_answer.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/wire/frame.h"
#include "server/core/error.h"
#include "server/core/position/rotary_table.h"
#include "server/core/tensor/checked_math.h"
#include "server/service/payload_slice.h"
#include "server/service/rotary_parameters.h"

namespace embd::service {
namespace {

constexpr std::int64_t kLargeAngles = 16384;  // half a millisecond

absl::Status TooLarge(absl::string_view reason, absl::string_view message) {
  return core::Error(absl::StatusCode::kResourceExhausted, reason, message);
}

absl::Status CheckPositions(const v1::RotaryTableRequest& request, const core::EmbedLimits& limits) {
  const std::int64_t first = request.first_position();
  const std::int64_t length = request.length();
  if (length < 1) return core::InvalidArgument("INVALID_SHAPE", absl::StrCat("length must be >= 1, got ", length));
  if (length > limits.max_sequence_length) {
    return TooLarge("REQUEST_TOO_LARGE", absl::StrCat("length ", length, " exceeds max_sequence_length ",
                                                      limits.max_sequence_length, " of this server"));
  }
  if (first < 0 || first > core::kMaxRotaryPosition + 1 - length) {
    return core::InvalidArgument("POSITION_OUT_OF_RANGE",
                                 absl::StrCat("first_position = ", first, " with length ", length, " leaves [0, ",
                                              core::kMaxRotaryPosition, "]"));
  }
  const std::int64_t scaling_length = request.scaling_length();
  if (request.has_scaling_length() && (scaling_length < 1 || scaling_length > core::kMaxRotaryPosition + 1)) {
    return core::InvalidArgument(
        "INVALID_OPTION",
        absl::StrCat("scaling_length must be from 1 to ", core::kMaxRotaryPosition + 1, ", got ", scaling_length));
  }
  return absl::OkStatus();
}

absl::Status CheckSize(std::int64_t length, std::int64_t pairs, const core::EmbedLimits& limits) {
  const auto bytes = core::CheckedProduct({2, length, pairs, static_cast<std::int64_t>(sizeof(float))});
  if (bytes.has_value() && *bytes <= limits.max_response_bytes) return absl::OkStatus();
  return TooLarge("RESPONSE_TOO_LARGE",
                  absl::StrCat("the two (", length, ", ", pairs, ") float32 tables need ",
                               bytes.has_value() ? absl::StrCat(*bytes) : std::string("more than 2^63 - 1"),
                               " bytes, which exceeds max_response_bytes ", limits.max_response_bytes,
                               " of this server; ask for fewer positions a call"));
}

}  // namespace

absl::StatusOr<RotaryTableWork> RotaryTableWork::Plan(const Backend& backend, const Request& request, const Call&) {
  auto choice = ChooseRotary(backend.models, request);
  if (!choice.ok()) return choice.status();
  if (absl::Status status = CheckPositions(request, backend.limits); !status.ok()) return status;
  const std::int64_t scaling_length =
      request.has_scaling_length() ? request.scaling_length() : request.first_position() + request.length();
  auto frequencies = core::ResolveRotary(choice->parameters, scaling_length);
  if (!frequencies.ok()) return frequencies.status();
  RotaryTableWork work(*std::move(frequencies), request.first_position(), request.length());
  if (absl::Status status = CheckSize(work.length_, work.pairs(), backend.limits); !status.ok()) return status;
  return work;
}

bool RotaryTableWork::IsLarge() const { return length_ * pairs() > kLargeAngles; }

absl::StatusOr<grpc::ByteBuffer> RotaryTableWork::Answer(Backend& backend, const Request& /*request*/,
                                                         const std::function<absl::Status()>& interrupted) const {
  if (absl::Status status = interrupted(); !status.ok()) return status;
  const std::size_t byte_size = static_cast<std::size_t>(length_ * pairs()) * sizeof(float);
  auto cos = backend.buffers->Take(byte_size);
  if (!cos.ok()) return cos.status();
  auto sin = backend.buffers->Take(byte_size);
  if (!sin.ok()) return sin.status();
  const std::int64_t rows_between_looks = std::max<std::int64_t>(1, kLargeAngles / pairs());
  for (std::int64_t row = 0; row < length_; ++row) {
    if (row % rows_between_looks == 0) {
      if (absl::Status status = interrupted(); !status.ok()) return status;
    }
    core::RotaryRow(frequencies_, first_ + row, core::RotaryDirection::kForward,
                    reinterpret_cast<float*>(cos->bytes().data()) + row * pairs(),
                    reinterpret_cast<float*>(sin->bytes().data()) + row * pairs());
  }

  v1::RotaryTableResponse response;
  response.set_attention_factor(frequencies_.attention_factor);
  v1::Tensor tensor;
  tensor.set_data_type(v1::DATA_TYPE_FLOAT32);
  tensor.add_shape(length_);
  tensor.add_shape(pairs());
  const std::string to_cos = wire::FrameHeader(
      {{response, v1::RotaryTableResponse::kCosFieldNumber}, {tensor, v1::Tensor::kDataFieldNumber}}, byte_size);
  const std::string to_sin = wire::FrameHeader(
      {{v1::RotaryTableResponse(), v1::RotaryTableResponse::kSinFieldNumber}, {tensor, v1::Tensor::kDataFieldNumber}},
      byte_size);
  const grpc::Slice slices[] = {grpc::Slice(to_cos), PayloadSlice(*std::move(cos)), grpc::Slice(to_sin),
                                PayloadSlice(*std::move(sin))};
  return grpc::ByteBuffer(slices, 4);
}

}  // namespace embd::service

#include "server/core/engine/rotate_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"
#include "server/core/tensor/checked_math.h"

namespace embd::core {
namespace {

absl::Status TooLarge(absl::string_view reason, absl::string_view message) {
  return Error(absl::StatusCode::kResourceExhausted, reason, message);
}

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  return absl::StrCat("(", absl::StrJoin(shape, ", "), ")");
}

// Bytes of a tensor, or nothing where they exceed 2^63 - 1.
std::optional<std::int64_t> Size(const std::vector<std::int64_t>& shape, std::size_t element_size) {
  std::optional<std::int64_t> size = static_cast<std::int64_t>(element_size);
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;
  }
  for (const std::int64_t extent : shape) {
    if (size.has_value()) size = CheckedProduct({*size, extent});
  }
  return size;
}

std::string OrTooMany(std::optional<std::int64_t> size) {
  return size.has_value() ? absl::StrCat(*size) : "more than 2^63 - 1";
}

absl::Status OutOfRange(absl::string_view cell, std::int64_t position) {
  return InvalidArgument("POSITION_OUT_OF_RANGE",
                         absl::StrCat(cell, " = ", position, " is outside [0, ", kMaxRotaryPosition, "]"));
}

}  // namespace

absl::StatusOr<RotatePlan> RotatePlan::Create(RotateInput input, const EmbedLimits& limits) {
  RotatePlan plan(std::move(input));
  if (absl::Status status = plan.CheckShape(); !status.ok()) return status;
  if (absl::Status status = plan.CheckLimits(limits); !status.ok()) return status;
  if (absl::Status status = plan.CheckOptions(); !status.ok()) return status;
  if (absl::Status status = ResolveRotary(plan.input_.parameters, 1).status(); !status.ok()) return status;
  if (absl::Status status = plan.CheckOffsets(); !status.ok()) return status;
  if (absl::Status status = plan.CheckPositionIds(); !status.ok()) return status;
  if (absl::Status status = plan.CheckFrequencies(); !status.ok()) return status;
  return plan;
}

absl::Status RotatePlan::CheckShape() {
  const std::vector<std::int64_t>& shape = input_.shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (rank < 2 || std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 0; })) {
    return InvalidArgument("INVALID_SHAPE",
                           absl::StrCat("vectors.shape must have two axes or more, none of them negative, "
                                        "and head_dim as the last; got ",
                                        ShapeText(shape)));
  }
  if (input_.parameters.head_dim == 0) input_.parameters.head_dim = shape.back();
  if (shape.back() != input_.parameters.head_dim) {
    return InvalidArgument("INVALID_SHAPE", absl::StrCat("the last axis of vectors.shape ", ShapeText(shape),
                                                         " must be head_dim = ", input_.parameters.head_dim));
  }
  const auto size = Size(shape, ElementSize(input_.input_type));
  if (!size.has_value() || static_cast<std::size_t>(*size) != input_.byte_size) {
    return InvalidArgument("INVALID_SHAPE",
                           absl::StrCat("vectors.data has ", input_.byte_size, " bytes, but ", ShapeText(shape), " ",
                                        ElementTypeName(input_.input_type), " needs ", OrTooMany(size)));
  }
  const std::int64_t asked = input_.sequence_axis.value_or(rank == 2 ? 0 : 1);
  const std::int64_t axis = asked < 0 ? asked + rank : asked;
  if (axis < 0 || axis >= rank - 1) {
    return InvalidArgument("INVALID_SHAPE",
                           absl::StrCat("sequence_axis ", asked, " is no axis before the last of vectors.shape ",
                                        ShapeText(shape), "; allowed are 0 to ", rank - 2, ", or ", -rank, " to -2"));
  }
  batch_ = axis == 0 ? 1 : shape[0];
  tokens_ = shape[static_cast<std::size_t>(axis)];
  vectors_ =
      *size / static_cast<std::int64_t>(ElementSize(input_.input_type)) / std::max<std::int64_t>(1, shape.back());
  for (std::int64_t i = 1; i < rank - 1 && vectors_ > 0; ++i) {
    if (i < axis) outer_ *= shape[static_cast<std::size_t>(i)];
    if (i > axis) inner_ *= shape[static_cast<std::size_t>(i)];
  }
  if (tokens_ < 1) {
    return InvalidArgument("INVALID_SHAPE", absl::StrCat("sequence_length must be >= 1, got ", tokens_));
  }
  return absl::OkStatus();
}

absl::Status RotatePlan::CheckLimits(const EmbedLimits& limits) const {
  if (batch_ > limits.max_batch_size) {
    return TooLarge("REQUEST_TOO_LARGE", absl::StrCat("batch_size ", batch_, " exceeds max_batch_size ",
                                                      limits.max_batch_size, " of this server; split the batch"));
  }
  if (tokens_ > limits.max_sequence_length) {
    return TooLarge("REQUEST_TOO_LARGE",
                    absl::StrCat("sequence_length ", tokens_, " exceeds max_sequence_length ",
                                 limits.max_sequence_length, " of this server; split the sequence"));
  }
  const auto bytes = Size(input_.shape, ElementSize(input_.output_type));
  if (!bytes.has_value() || *bytes > limits.max_response_bytes) {
    return TooLarge("RESPONSE_TOO_LARGE",
                    absl::StrCat("the ", ShapeText(input_.shape), " ", ElementTypeName(input_.output_type),
                                 " reply needs ", OrTooMany(bytes), " bytes, which exceeds max_response_bytes ",
                                 limits.max_response_bytes, " of this server; send fewer vectors a call"));
  }
  return absl::OkStatus();
}

absl::Status RotatePlan::CheckOptions() const {
  if (input_.layout == RotaryLayout::kSplit && input_.parameters.pairing != RotaryPairing::kInterleaved) {
    return InvalidArgument("INVALID_OPTION", "output_layout SPLIT goes with pairing INTERLEAVED only");
  }
  if (input_.layout == RotaryLayout::kSplit && input_.direction == RotaryDirection::kBackward) {
    return InvalidArgument("INVALID_OPTION",
                           "inverse and output_layout SPLIT exclude each other; a SPLIT result is turned back with "
                           "pairing HALF");
  }
  const std::int64_t length = input_.scaling_length.value_or(1);
  if (length < 1 || length > kMaxRotaryPosition + 1) {
    return InvalidArgument("INVALID_OPTION",
                           absl::StrCat("scaling_length must be from 1 to ", kMaxRotaryPosition + 1, ", got ", length));
  }
  return absl::OkStatus();
}

absl::Status RotatePlan::CheckOffsets() const {
  const auto& offsets = input_.position_offsets;
  const auto count = static_cast<std::int64_t>(offsets.size());
  if (count > 1 && count != batch_) {
    return InvalidArgument("INVALID_SHAPE", absl::StrCat("position_offsets has ", count,
                                                         " values; allowed are none, 1 or batch_size = ", batch_));
  }
  if (!offsets.empty() && !input_.position_ids.empty()) {
    return InvalidArgument("INVALID_OPTION", "position_ids and position_offsets exclude each other");
  }
  const bool counts_from_zero = offsets.empty() && input_.position_ids.empty();
  if (counts_from_zero && tokens_ - 1 > kMaxRotaryPosition) {
    return InvalidArgument("POSITION_OUT_OF_RANGE", absl::StrCat("sequence_length ", tokens_,
                                                                 " goes past the last position, ", kMaxRotaryPosition));
  }
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    if (offsets[b] >= 0 && offsets[b] <= kMaxRotaryPosition + 1 - tokens_) continue;
    return InvalidArgument("POSITION_OUT_OF_RANGE",
                           absl::StrCat("position_offsets[", b, "] = ", offsets[b], " with sequence_length ", tokens_,
                                        " leaves [0, ", kMaxRotaryPosition, "]"));
  }
  return absl::OkStatus();
}

absl::Status RotatePlan::CheckPositionIds() const {
  const auto& positions = input_.position_ids;
  const auto count = static_cast<std::int64_t>(positions.size());
  const std::int64_t cells = CheckedProduct({batch_, tokens_}).value_or(-1);
  if (count != 0 && count != tokens_ && count != cells) {
    return InvalidArgument("INVALID_SHAPE", absl::StrCat("position_ids has ", count,
                                                         " values; allowed are none, sequence_length = ", tokens_,
                                                         " or batch_size x sequence_length = ", cells));
  }
  const auto bad = std::find_if(positions.begin(), positions.end(),
                                [](std::int64_t position) { return position < 0 || position > kMaxRotaryPosition; });
  if (bad == positions.end()) return absl::OkStatus();
  const std::int64_t i = bad - positions.begin();
  return OutOfRange(count == cells ? absl::StrCat("position_ids[", i / tokens_, "][", i % tokens_, "]")
                                   : absl::StrCat("position_ids[", i, "]"),
                    *bad);
}

// Frequencies of every length that occurs, so that running cannot fail by them. They fall as the length grows.
absl::Status RotatePlan::CheckFrequencies() {
  std::int64_t longest = 1;
  if (DependsOnLength(input_.parameters.scaling)) {
    const std::int64_t rows = SharesPositions() ? std::min<std::int64_t>(batch_, 1) : batch_;
    for (std::int64_t b = 0; b < rows; ++b) longest = std::max(longest, ScalingLengthOf(b));
  }
  const auto frequencies = ResolveRotary(input_.parameters, longest);
  if (!frequencies.ok()) return frequencies.status();
  attention_factor_ = frequencies->attention_factor;
  return absl::OkStatus();
}

std::int64_t RotatePlan::angle_count() const {
  if (vectors_ == 0) return 0;
  return (SharesPositions() ? 1 : batch_) * tokens_ * (PairedDim(input_.parameters) / 2);
}

std::size_t RotatePlan::byte_size() const {
  return static_cast<std::size_t>(vectors_ * input_.parameters.head_dim) * ElementSize(input_.output_type);
}

bool RotatePlan::SharesPositions() const {
  return input_.position_offsets.size() <= 1 &&
         (input_.position_ids.empty() || static_cast<std::int64_t>(input_.position_ids.size()) == tokens_);
}

std::int64_t RotatePlan::PositionOf(std::int64_t batch, std::int64_t token) const {
  const auto& ids = input_.position_ids;
  if (!ids.empty()) {
    const bool shared = static_cast<std::int64_t>(ids.size()) == tokens_;
    return ids[static_cast<std::size_t>(shared ? token : batch * tokens_ + token)];
  }
  const auto& offsets = input_.position_offsets;
  return token + (offsets.empty() ? 0 : offsets[offsets.size() == 1 ? 0 : static_cast<std::size_t>(batch)]);
}

std::int64_t RotatePlan::ScalingLengthOf(std::int64_t batch) const {
  if (input_.scaling_length.has_value()) return *input_.scaling_length;
  if (input_.position_ids.empty()) return PositionOf(batch, tokens_ - 1) + 1;
  std::int64_t largest = 0;
  for (std::int64_t t = 0; t < tokens_; ++t) largest = std::max(largest, PositionOf(batch, t));
  return largest + 1;
}

}  // namespace embd::core

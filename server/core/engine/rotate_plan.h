#ifndef EMBD_SERVER_CORE_ENGINE_ROTATE_PLAN_H_
#define EMBD_SERVER_CORE_ENGINE_ROTATE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/engine/embed_plan.h"
#include "server/core/kernels/rotate.h"
#include "server/core/position/rotary.h"
#include "server/core/position/rotary_table.h"
#include "server/core/tensor/element_type.h"

namespace embd::core {

/// Vectors to be turned as a caller describes them, not checked yet. Field names are those of embd.v1.RotateRequest.
struct RotateInput {
  RotaryParameters parameters;      ///< head_dim 0: the last extent of the shape
  std::vector<std::int64_t> shape;  ///< of the vectors; the last axis is head_dim
  std::size_t byte_size = 0;        ///< of the vectors
  ElementType input_type = ElementType::kFloat32;
  ElementType output_type = ElementType::kFloat32;
  RotaryLayout layout = RotaryLayout::kSame;
  RotaryDirection direction = RotaryDirection::kForward;
  /// The axis that positions count along; negative counts from behind. Axis 0 is the batch, unless it is the sequence:
  /// then there is one row. Unset: 1, or 0 for vectors of two axes.
  std::optional<std::int64_t> sequence_axis;
  std::vector<std::int64_t> position_offsets;  ///< none, one, or B
  std::vector<std::int64_t> position_ids;      ///< none, T, or B * T
  std::optional<std::int64_t> scaling_length;  ///< unset: each row's largest position + 1
};

/// A checked set of vectors: everything that `Run` needs, and the size of its result.
///
/// Thread safety: never changes after `Create`; `Run` may go on in several threads.
class RotatePlan {
 public:
  /// Checks `input` in this order: shape and axis, limits, reply size, options, parameters, positions. Only the first
  /// offence is named.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT    [INVALID_SHAPE]; [INVALID_OPTION], also those of ResolveRotary; [POSITION_OUT_OF_RANGE]
  ///   names
  ///                       the first bad cell
  ///   RESOURCE_EXHAUSTED  [REQUEST_TOO_LARGE] B or T beyond its limit; [RESPONSE_TOO_LARGE] the reply beyond its
  [[nodiscard]] static absl::StatusOr<RotatePlan> Create(RotateInput input, const EmbedLimits& limits);

  [[nodiscard]] const RotateInput& input() const { return input_; }
  [[nodiscard]] std::int64_t batch_size() const { return batch_; }
  [[nodiscard]] std::int64_t sequence_length() const { return tokens_; }
  [[nodiscard]] double attention_factor() const { return attention_factor_; }
  /// Vectors in all.
  [[nodiscard]] std::int64_t vector_count() const { return vectors_; }
  /// Sines and cosines that must be computed; the rest of the work is proportional to byte_size.
  [[nodiscard]] std::int64_t angle_count() const;
  /// Of the result.
  [[nodiscard]] std::size_t byte_size() const;

  /// Writes the turned vectors to `out`, byte_size() bytes; `in` holds input().byte_size bytes. Both are aligned to one
  /// of their elements. `interrupted` is asked about once a megabyte or millisecond; what it says other than OK ends
  /// the work. A row's result depends on nothing but the row, its positions and the parameters. Cost: one pass; one
  /// buffer of at most 256 KiB or one position.
  [[nodiscard]] absl::Status Run(std::span<const std::byte> in, std::span<std::byte> out,
                                 const std::function<absl::Status()>& interrupted) const;

 private:
  class Runner;

  explicit RotatePlan(RotateInput input) : input_(std::move(input)) {}

  [[nodiscard]] absl::Status CheckShape();
  [[nodiscard]] absl::Status CheckLimits(const EmbedLimits& limits) const;
  [[nodiscard]] absl::Status CheckOptions() const;
  [[nodiscard]] absl::Status CheckOffsets() const;
  [[nodiscard]] absl::Status CheckPositionIds() const;
  [[nodiscard]] absl::Status CheckFrequencies();

  /// Whether every row has the same positions.
  [[nodiscard]] bool SharesPositions() const;
  [[nodiscard]] std::int64_t PositionOf(std::int64_t batch, std::int64_t token) const;
  [[nodiscard]] std::int64_t ScalingLengthOf(std::int64_t batch) const;

  RotateInput input_;
  // The shape as (B, outer, T, inner, head_dim); where it has no elements, outer and inner mean nothing.
  std::int64_t batch_ = 0;
  std::int64_t outer_ = 1;
  std::int64_t tokens_ = 0;
  std::int64_t inner_ = 1;
  std::int64_t vectors_ = 0;
  double attention_factor_ = 1.0;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_ROTATE_PLAN_H_

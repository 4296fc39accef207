#ifndef EMBD_SERVER_CORE_ENGINE_EMBED_PLAN_H_
#define EMBD_SERVER_CORE_ENGINE_EMBED_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/engine/model.h"
#include "server/core/tensor/element_type.h"

namespace embd::core {

/// What of the composition is asked for.
enum class Part { kComposed, kToken, kPosition };

/// One (B, T) batch as a caller describes it, not checked yet. Field names are those of embd.v1.EmbedRequest.
struct EmbedInput {
  Part part = Part::kComposed;
  ElementType output_type = ElementType::kFloat32;
  std::int64_t batch_size = 0;
  std::int64_t sequence_length = 0;
  std::vector<std::int64_t> ids;               ///< B * T, row-major; may be empty for kPosition
  std::vector<std::int64_t> position_offsets;  ///< none, one, or B
  std::vector<std::int64_t> position_ids;      ///< none, T, or B * T
};

/// What a request may ask for.
struct EmbedLimits {
  std::int64_t max_batch_size = 0;
  std::int64_t max_sequence_length = 0;
  std::int64_t max_response_bytes = 0;
};

/// A checked batch: everything that `Compose` needs, and the size of its result before anything of it is allocated.
///
/// Ownership: keeps the model alive. Thread safety: never changes after `Create`; `Compose` may run on several threads.
class EmbedPlan {
 public:
  /// Checks `input` against the model and the limits, in this order: that there is a position table for kPosition,
  /// shape, limits, reply size, positions, ids. Only the first offence is named.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION [NO_POSITION_TABLE] kPosition of a model without a position table
  ///   INVALID_ARGUMENT    [INVALID_SHAPE], [INVALID_OPTION], [SEQUENCE_TOO_LONG];
  ///                       [POSITION_OUT_OF_RANGE], [ID_OUT_OF_RANGE] names the first bad cell
  ///   RESOURCE_EXHAUSTED  [REQUEST_TOO_LARGE] B or T beyond its limit; [RESPONSE_TOO_LARGE] the reply beyond its
  [[nodiscard]] static absl::StatusOr<EmbedPlan> Create(std::shared_ptr<const Model> model, EmbedInput input,
                                                        const EmbedLimits& limits);

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] Part part() const { return input_.part; }
  [[nodiscard]] ElementType output_type() const { return input_.output_type; }
  [[nodiscard]] std::int64_t batch_size() const { return input_.batch_size; }
  [[nodiscard]] std::int64_t sequence_length() const { return input_.sequence_length; }
  /// B * T, the rows of the (B * T, D) result.
  [[nodiscard]] std::int64_t row_count() const { return input_.batch_size * input_.sequence_length; }
  [[nodiscard]] std::size_t row_bytes() const {
    return static_cast<std::size_t>(model_->embedding_dim()) * ElementSize(input_.output_type);
  }
  [[nodiscard]] std::size_t byte_size() const { return static_cast<std::size_t>(row_count()) * row_bytes(); }

  /// Writes rows [first_row, first_row + row_count) of the result to `out`, which has exactly row_count * row_bytes()
  /// bytes, aligned to one element. Cost: one pass over the output; allocates nothing, takes no lock.
  void Compose(std::int64_t first_row, std::int64_t row_count, std::span<std::byte> out) const;

 private:
  EmbedPlan(std::shared_ptr<const Model> model, EmbedInput input)
      : model_(std::move(model)), input_(std::move(input)) {}

  [[nodiscard]] std::int64_t PositionOf(std::int64_t batch, std::int64_t token) const;

  std::shared_ptr<const Model> model_;
  EmbedInput input_;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_EMBED_PLAN_H_

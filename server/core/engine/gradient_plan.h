#ifndef EMBD_SERVER_CORE_ENGINE_GRADIENT_PLAN_H_
#define EMBD_SERVER_CORE_ENGINE_GRADIENT_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/engine/embed_plan.h"
#include "server/core/engine/row_mentions.h"
#include "server/core/threads/share_out.h"

namespace embd::core {

/// "TOKEN", "POSITION", "TOKEN_TYPE".
[[nodiscard]] absl::string_view TableRoleName(TableRole role);

/// A batch, and what is known of dLoss/dOutput before it is looked at; not checked yet.
struct GradientInput {
  EmbedInput batch;                          ///< ragged rows are taken as packed; output_type is not looked at
  std::vector<std::int64_t> gradient_shape;  ///< of float32 elements
  std::size_t gradient_bytes = 0;
  std::vector<TableRole> tables;  ///< empty: all that the part reads
};

/// The rows of one table that a batch gives a gradient.
struct TableGradient {
  TableRole role = TableRole::kToken;
  const Table* table = nullptr;  ///< of the model
  bool trainable = true;         ///< false: a computed table, of which there are no rows
  RowMentions mentions;
};

/// A checked way back from the gradient of a batch's vectors to that of the rows that they are made of.
///
/// The gradient of a row is the sum over its cells, in row-major order, in float32, of the output's gradient times what
/// the row is multiplied by: token_scale for token rows (in ESM's token dropout first divided by its divisor), 1 for
/// others. For composed vectors the output's gradient first goes back through LayerNorm (LayerNormBackwardRows).
/// Token types that are rows of the token table add to these, in each cell after the token. None is given by cells that
/// are padding_idx of the token table, or of the position table where that numbers the cells (torch.nn.Embedding), nor
/// by cells that add no row (EmbedPlan::AddedRows). Nothing depends on the number of threads or the CPU.
///
/// Ownership: keeps the model alive. Thread safety: never changes after `Create`.
class GradientPlan {
 public:
  /// Checks `input` against the model and the limits; max_response_bytes bounds the rows with their numbers. Cost: a
  /// sort of the cells for each table.
  ///
  /// Errors: those of EmbedPlan::Create, and
  ///   INVALID_ARGUMENT     [INVALID_OPTION] a table that the part does not read, or twice; [INVALID_SHAPE] a gradient
  ///                        of another shape than the output, or with more or fewer bytes
  ///   FAILED_PRECONDITION  [NO_SUCH_TABLE] the model has no table in that role
  ///   RESOURCE_EXHAUSTED   [RESPONSE_TOO_LARGE] the gradients' rows are larger than the limit
  [[nodiscard]] static absl::StatusOr<GradientPlan> Create(std::shared_ptr<const Model> model, GradientInput input,
                                                           const EmbedLimits& limits);

  [[nodiscard]] const Model& model() const { return batch_.model(); }
  /// In the order asked for; else token, position, token type.
  [[nodiscard]] const std::vector<TableGradient>& tables() const { return tables_; }
  /// What the rows take, with their numbers.
  [[nodiscard]] std::int64_t result_bytes() const { return result_bytes_; }
  /// What `Run` takes for itself: another gradient of the output where that goes back through LayerNorm.
  [[nodiscard]] std::size_t working_bytes() const;

  /// Where the gradient of a table goes: (rows, D), and the rows' Euclidean norms (in double; element i goes to sum
  /// i mod 8, and the eight are added in order).
  struct Destination {
    std::span<float> rows;
    std::span<double> norms;
  };

  /// Computes all. `output_gradient` has the elements that were announced; `destinations` are as many as tables(), of
  /// the sizes of their mentions. `share` may use several threads.
  ///
  /// Errors: those of `share`; RESOURCE_EXHAUSTED [OUT_OF_MEMORY] no memory for working_bytes().
  [[nodiscard]] absl::Status Run(std::span<const float> output_gradient, std::span<const Destination> destinations,
                                 ShareOut share) const;

 private:
  GradientPlan(EmbedPlan batch, std::vector<TableGradient> tables);

  [[nodiscard]] absl::Status GoBackThroughLayerNorm(std::span<const float> output_gradient, float* sums,
                                                    ShareOut share) const;
  void AddUpRow(const TableGradient& table, std::size_t row, const float* gradient, std::span<float> sum) const;
  [[nodiscard]] absl::Status AddUp(const TableGradient& table, const float* gradient, const Destination& destination,
                                   ShareOut share) const;

  EmbedPlan batch_;  // without LayerNorm
  std::vector<TableGradient> tables_;
  std::int64_t result_bytes_ = 0;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_GRADIENT_PLAN_H_

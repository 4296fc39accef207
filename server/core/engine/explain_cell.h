#ifndef EMBD_SERVER_CORE_ENGINE_EXPLAIN_CELL_H_
#define EMBD_SERVER_CORE_ENGINE_EXPLAIN_CELL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/engine/batch_shape.h"
#include "server/core/engine/embed_input.h"
#include "server/core/engine/model.h"

namespace embd::core {

/// A row of a table, as float32.
struct ExplainedRow {
  std::int64_t row = 0;
  std::vector<float> values;
};

/// How the embedding of one cell comes about. Every list has D elements.
struct CellExplanation {
  std::int64_t id = 0;                    ///< as it was sent
  std::optional<std::int64_t> token_row;  ///< nothing: a row of zeros stands for the id
  std::vector<float> token_values;        ///< that row
  /// The factor of the token row; with token dropout 0.88 divided by 1 less the share of <mask>, rounded to float32.
  double token_scale = 1;
  std::vector<float> scaled_values;           ///< what is added of it
  std::optional<ExplainedRow> token_type;     ///< nothing: none is added
  std::optional<ExplainedRow> position;       ///< likewise
  std::vector<float> sum;                     ///< of these, in the model's order
  std::optional<double> layer_norm_mean;      ///< of the sum, where the model normalises it
  std::optional<double> layer_norm_variance;  ///< the biased one
  std::vector<float> embedding;               ///< what EmbedPlan::Compose gives for the cell, bit for bit
  bool zeroed = false;                        ///< whether it is zero because the cell is masked
};

/// Explains the cell at `place` of a batch. `input` asks for float32 composed of ids; its ids out of range are not
/// counted. Cost: what planning the batch costs, and its memory twice.
///
/// Errors: those of EmbedPlan::Create, and
///   INVALID_ARGUMENT  [INVALID_OPTION] the batch has no such cell.
[[nodiscard]] absl::StatusOr<CellExplanation> ExplainCell(const std::shared_ptr<const Model>& model, EmbedInput input,
                                                          const EmbedLimits& limits, BatchShape::Place place);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_EXPLAIN_CELL_H_

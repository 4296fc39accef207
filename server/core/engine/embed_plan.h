#ifndef EMBD_SERVER_CORE_ENGINE_EMBED_PLAN_H_
#define EMBD_SERVER_CORE_ENGINE_EMBED_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/engine/batch_shape.h"
#include "server/core/engine/cell_rows.h"
#include "server/core/engine/distinct_ids.h"
#include "server/core/engine/embed_input.h"
#include "server/core/engine/model.h"
#include "server/core/engine/position_rows.h"
#include "server/core/kernels/compose.h"
#include "server/core/tensor/element_type.h"

namespace embd::core {

/// The tables whose rows may be terms of a cell's sum.
enum class TableRole { kToken, kPosition, kTokenType };

/// A checked batch: everything that `Compose` needs, and the size of its result before anything of it is allocated.
///
/// Ownership: keeps the model alive. Thread safety: never changes after `Create`; `Compose` may run on several threads.
class EmbedPlan {
 public:
  /// How many rows of the batch `Compose` goes through together, column by column, where they share positions.
  static constexpr std::int64_t kRowsTogether = 8;

  /// Checks `input` against the model and the limits, in this order: what the model can do, shape, counts, limits,
  /// reply size (of `unique` requests last), positions, values. Only the first offence is named.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION [NO_POSITION_TABLE] kPosition of a model without a position table; [NO_TOKEN_TYPES] types
  ///   for
  ///                       a model that adds none
  ///   INVALID_ARGUMENT    [INVALID_SHAPE], [INVALID_OPTION], [SEQUENCE_TOO_LONG];
  ///                       [POSITION_OUT_OF_RANGE], [TOKEN_TYPE_OUT_OF_RANGE], [ID_OUT_OF_RANGE] names the first bad
  ///                       cell
  ///   RESOURCE_EXHAUSTED  [REQUEST_TOO_LARGE] B or T beyond its limit; [RESPONSE_TOO_LARGE] the reply beyond its
  [[nodiscard]] static absl::StatusOr<EmbedPlan> Create(std::shared_ptr<const Model> model, EmbedInput input,
                                                        const EmbedLimits& limits);

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] Part part() const { return input_.part; }
  [[nodiscard]] ElementType output_type() const { return input_.output_type; }
  /// Of the request; T is that of the padded rows where they are ragged.
  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }
  [[nodiscard]] std::int64_t sequence_length() const { return sequence_length_; }
  /// Lengths of ragged rows; empty where rows are equally long.
  [[nodiscard]] const std::vector<std::int64_t>& row_lengths() const { return input_.row_lengths; }
  /// The distinct ids of a `unique` request, as they were sent, and the number of each cell's id; empty for others.
  [[nodiscard]] const DistinctIds& distinct() const { return distinct_; }
  /// Extents of the result: (B, T, D); (cells, D) where ragged rows are packed; (distinct ids, D) for `unique`.
  [[nodiscard]] std::vector<std::int64_t> output_shape() const { return shape_.OutputShape(model_->embedding_dim()); }
  /// The rows of the (rows, D) result.
  [[nodiscard]] std::int64_t row_count() const { return shape_.output_rows(); }
  [[nodiscard]] std::size_t row_bytes() const {
    return static_cast<std::size_t>(model_->embedding_dim()) * ElementSize(input_.output_type);
  }
  [[nodiscard]] std::size_t byte_size() const { return static_cast<std::size_t>(row_count()) * row_bytes(); }
  /// The memory of what the plan keeps of the request, which the caller decides.
  [[nodiscard]] std::size_t request_bytes() const;
  /// Whether rows of a growing position table are read, which `Compose` may have to compute.
  [[nodiscard]] bool reads_growing_rows() const {
    return positions_.used && positions_.end_row > model_->position()->table.rows();
  }
  /// Stands for a row where a cell adds none.
  static constexpr std::int64_t kNoRow = kZeroRow;
  /// For each cell the row of the table in that role that it adds; kNoRow where the part or the request has no such
  /// term, where a row of zeros stands in for it, and where the cell is zero after everything because it is masked. Of
  /// token types, rows of Model::token_type_table. Cost: a value a cell.
  [[nodiscard]] std::vector<std::int64_t> AddedRows(TableRole role) const;
  /// What the token row of a cell is multiplied by, and then divided by. Not for given vectors.
  struct TokenFactors {
    float scale;
    float divisor;
  };
  [[nodiscard]] TokenFactors TokenFactorsOf(std::int64_t cell) const;
  /// What the caller should know although nothing is wrong.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  /// Whether this is the first request of the model whose ids were outside [0, V) and not refused.
  [[nodiscard]] bool first_out_of_range() const { return first_out_of_range_; }

  /// Writes rows [first_row, first_row + row_count) of the result to `out`, which has exactly row_count * row_bytes()
  /// bytes, aligned to one element. Cost: one pass over the output; takes no lock; allocates what core::Compose does.
  /// Rows of the batch that lie in the range as a whole are composed some at a time, column by column, so that position
  /// rows are fetched once for all of them: a call for several is faster than a call for each. `stores` says who reads
  /// the output next.
  void Compose(std::int64_t first_row, std::int64_t row_count, std::span<std::byte> out,
               Stores stores = Stores::kCached) const;

 private:
  static constexpr std::size_t kBlockRows = 128;

  // A cell of the batch, and where its row of the result goes.
  struct Cell {
    std::int64_t index;
    BatchShape::Place place;
    std::byte* out;
  };
  using Cells = std::span<const Cell>;  // at most kBlockRows
  using BlockRows = std::array<const std::byte*, kBlockRows>;
  using BlockOut = std::array<std::byte*, kBlockRows>;
  using BlockDivisors = std::array<float, kBlockRows>;
  class Block;

  EmbedPlan(std::shared_ptr<const Model> model, EmbedInput input, BatchShape shape, CellPositions positions,
            DistinctIds distinct);

  void ReplaceIdsOutOfRange();
  void KeepDistinct();
  void DropMaskTokens();
  void Warn();
  // Output rows up to end_row, which are cells of one row of the batch from first_cell on, or padding; where rows are
  // packed, of several.
  struct Run {
    std::int64_t first_cell;
    std::int64_t end_row;
  };
  [[nodiscard]] Run RunAt(std::int64_t row, std::int64_t end) const;
  // How many rows of the batch, from output row `row` on, lie before `end` as a whole and are to be taken together.
  [[nodiscard]] std::int64_t RowsTogetherAt(std::int64_t row, std::int64_t end) const;
  void AddColumns(std::int64_t row, std::int64_t batch_rows, std::byte* out, Block* block) const;
  void AddRun(std::int64_t first_cell, std::int64_t count, std::byte* out, Block* block) const;
  void ComposeCells(Cells cells, Stores stores) const;
  // The terms of the sum for those cells; `rows` is theirs.
  [[nodiscard]] Term TokenTerm(Cells cells, BlockRows* rows) const;
  [[nodiscard]] Term PositionTerm(Cells cells, BlockRows* rows) const;
  [[nodiscard]] Term TypeTerm(Cells cells, BlockRows* rows) const;
  [[nodiscard]] std::int64_t PositionRow(BatchShape::Place place, std::int64_t cell) const;
  [[nodiscard]] const std::byte* TokenRow(std::int64_t cell) const;
  [[nodiscard]] const float* Divisors(Cells cells, BlockDivisors* divisors) const;
  [[nodiscard]] bool ZeroesMasked() const;
  void ZeroMaskedRows(Cells cells) const;

  std::shared_ptr<const Model> model_;
  EmbedInput input_;  // ids are those of the distinct rows where `unique` is set
  BatchShape shape_;  // of the result
  std::int64_t batch_size_;
  std::int64_t sequence_length_;
  DistinctIds distinct_;
  CellPositions positions_;
  std::vector<std::byte> zero_row_;  // stands in for ids out of range and for <mask>, where the model wants that
  std::vector<float> divisors_;      // of the token rows of each row of the batch; empty: none
  std::vector<std::string> warnings_;
  bool first_out_of_range_ = false;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_EMBED_PLAN_H_

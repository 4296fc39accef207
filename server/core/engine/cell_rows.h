#ifndef EMBD_SERVER_CORE_ENGINE_CELL_ROWS_H_
#define EMBD_SERVER_CORE_ENGINE_CELL_ROWS_H_

#include <cstdint>
#include <vector>

#include "server/core/engine/batch_shape.h"
#include "server/core/engine/embed_input.h"
#include "server/core/engine/model.h"
#include "server/core/engine/position_rows.h"

// Which rows of the tables the cells of a checked batch have.
namespace embd::core {

/// In place of an id: a token row of zeros.
inline constexpr std::int64_t kZeroRow = -1;

/// By what ESM's token dropout multiplies token rows, before it divides them.
inline constexpr float kKeptAtTraining = static_cast<float>(1 - 0.15 * 0.8);

/// Replaces the ids outside the token table by kZeroRow or unk_id, as the model's policy says; returns how many there
/// were. With OutOfRangePolicy::kError there are none.
std::int64_t ReplaceIdsOutOfRange(const Model& model, std::vector<std::int64_t>& ids);

/// Replaces `mask_id` by kZeroRow; returns for each row of the batch what its token rows are divided by
/// (Model::dropout_mask_id).
[[nodiscard]] std::vector<float> DropMaskTokens(std::int64_t mask_id, const BatchShape& shape,
                                                const std::vector<std::int64_t>& attention_mask,
                                                std::vector<std::int64_t>& ids);

/// The row of the position table for the cell at `place`, where one is used.
[[nodiscard]] std::int64_t PositionRowOf(const CellPositions& positions, const EmbedInput& input,
                                         const BatchShape& shape, BatchShape::Place place, std::int64_t cell);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_CELL_ROWS_H_

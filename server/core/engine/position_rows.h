#ifndef EMBD_SERVER_CORE_ENGINE_POSITION_ROWS_H_
#define EMBD_SERVER_CORE_ENGINE_POSITION_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/engine/batch_shape.h"
#include "server/core/engine/embed_input.h"
#include "server/core/engine/model.h"

namespace embd::core {

/// How the cells of a batch are numbered.
struct CellPositions {
  bool used = false;               ///< whether the part looks at a position table
  std::int64_t first_row = 0;      ///< row of the position that is counted first, without the request's offset
  std::vector<std::int64_t> rows;  ///< of the table, one a cell, where a mask or the ids number them; else empty
  std::int64_t end_row = 0;        ///< the largest row, + 1
  std::int64_t length = 0;         ///< the largest position that is counted, + 1; 0 where nothing is
};

/// The request's offset for row `b`.
[[nodiscard]] inline std::int64_t PositionOffset(const EmbedInput& input, std::int64_t b) {
  const auto& offsets = input.position_offsets;
  if (offsets.empty()) return 0;
  return offsets[offsets.size() == 1 ? 0 : static_cast<std::size_t>(b)];
}

/// Numbers the cells as the model's family does (model.h), and checks every row against the table.
///
/// Counts of values have been checked. Cost: one pass over the values that number cells; memory only where a mask or
/// ids do. Errors:
///   INVALID_ARGUMENT  [SEQUENCE_TOO_LONG] a row goes past the table; [POSITION_OUT_OF_RANGE] an offset, a position id,
///   or a
///                     masked cell does; [INVALID_OPTION] offsets beside position ids
[[nodiscard]] absl::StatusOr<CellPositions> NumberCells(const Model& model, const EmbedInput& input,
                                                        const BatchShape& shape);

/// Whether the mask of `input` has a say in the positions of `model`.
[[nodiscard]] bool MaskNumbersCells(const Model& model, const EmbedInput& input);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_POSITION_ROWS_H_

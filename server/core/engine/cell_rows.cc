// Hot path: no lock, no allocation per row, no log.
#include "server/core/engine/cell_rows.h"

namespace embd::core {

std::int64_t ReplaceIdsOutOfRange(const Model& model, std::vector<std::int64_t>& ids) {
  const std::int64_t instead = model.out_of_range() == OutOfRangePolicy::kZero ? kZeroRow : model.unk_id();
  const auto vocab_size = static_cast<std::uint64_t>(model.vocab_size());
  std::int64_t count = 0;
  for (std::int64_t& id : ids) {
    if (static_cast<std::uint64_t>(id) < vocab_size) continue;
    id = instead;
    ++count;
  }
  return count;
}

std::vector<float> DropMaskTokens(std::int64_t mask_id, const BatchShape& shape,
                                  const std::vector<std::int64_t>& attention_mask, std::vector<std::int64_t>& ids) {
  std::vector<float> divisors;
  for (std::int64_t b = 0; b < shape.batch_size(); ++b) {
    std::int64_t masks = 0, cells = 0;
    for (std::int64_t cell = shape.row_start(b); cell < shape.row_start(b + 1); ++cell) {
      const auto i = static_cast<std::size_t>(cell);
      cells += attention_mask.empty() ? 1 : attention_mask[i];
      if (ids[i] != mask_id) continue;
      ids[i] = kZeroRow;
      ++masks;
    }
    divisors.push_back(1.0f - static_cast<float>(masks) / static_cast<float>(cells));
  }
  return divisors;
}

std::int64_t PositionRowOf(const CellPositions& positions, const EmbedInput& input, const BatchShape& shape,
                           BatchShape::Place place, std::int64_t cell) {
  if (!positions.rows.empty()) return positions.rows[static_cast<std::size_t>(cell)];
  const auto& ids = input.position_ids;
  if (ids.empty()) return positions.first_row + PositionOffset(input, place.row) + place.column;
  const bool shared = !shape.is_ragged() && static_cast<std::int64_t>(ids.size()) == shape.sequence_length();
  return ids[static_cast<std::size_t>(shared ? place.column : cell)] + positions.first_row;
}

}  // namespace embd::core

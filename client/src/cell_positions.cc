#include "client/src/cell_positions.h"

#include <algorithm>

namespace embd::client {

CellPositions::CellPositions(const EmbedRequest& request)
    : request_(&request),
      explicit_(!request.position_ids.empty()),
      shared_(static_cast<std::int64_t>(request.position_ids.size()) == request.sequence_length) {}

bool CellPositions::HasRightCounts() const {
  const auto ids = static_cast<std::int64_t>(request_->position_ids.size());
  const auto offsets = static_cast<std::int64_t>(request_->position_offsets.size());
  if (explicit_) return offsets == 0 && (shared_ || ids == request_->batch_size * request_->sequence_length);
  return offsets <= 1 || offsets == request_->batch_size;
}

std::optional<CellPositions> CellPositions::Read(const EmbedRequest& request, std::int64_t end) {
  CellPositions positions(request);
  if (!positions.HasRightCounts()) return std::nullopt;
  const auto& given = positions.explicit_ ? request.position_ids : request.position_offsets;
  // Bad offsets are refused even where no row has them.
  const std::int64_t last_column = positions.explicit_ ? 0 : request.sequence_length - 1;
  std::int64_t last = last_column;
  for (const std::int64_t value : given) {
    if (value < 0 || value >= end || last_column >= end - value) return std::nullopt;
    last = std::max(last, value + last_column);
  }
  if (last >= end) return std::nullopt;
  if (request.batch_size > 0) positions.end_ = last + 1;
  return positions;
}

}  // namespace embd::client

#ifndef EMBD_CLIENT_SRC_CELL_POSITIONS_H_
#define EMBD_CLIENT_SRC_CELL_POSITIONS_H_

#include <cstdint>
#include <optional>

#include "embd/client/embedding.h"

namespace embd::client {

/// The positions of an even batch's cells, as a server counts them without a mask: offset + column, or as they are
/// given.
///
/// Ownership: looks at the request, which outlives it.
class CellPositions {
 public:
  /// Nothing where a server would refuse them: there are too many or too few, or one is outside [0, `end`).
  [[nodiscard]] static std::optional<CellPositions> Read(const EmbedRequest& request, std::int64_t end);

  /// That of column `t` in row `b`.
  [[nodiscard]] std::int64_t At(std::int64_t b, std::int64_t t) const {
    if (!explicit_) return Offset(b) + t;
    return request_->position_ids[static_cast<std::size_t>(shared_ ? t : b * request_->sequence_length + t)];
  }

  /// The largest, + 1; 0 where there are no cells.
  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  explicit CellPositions(const EmbedRequest& request);

  [[nodiscard]] std::int64_t Offset(std::int64_t b) const {
    const auto& offsets = request_->position_offsets;
    if (offsets.empty()) return 0;
    return offsets[offsets.size() == 1 ? 0 : static_cast<std::size_t>(b)];
  }
  [[nodiscard]] bool HasRightCounts() const;

  const EmbedRequest* request_;
  bool explicit_;
  bool shared_;  // position_ids are those of every row
  std::int64_t end_ = 0;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CELL_POSITIONS_H_

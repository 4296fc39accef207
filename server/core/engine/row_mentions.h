#ifndef EMBD_SERVER_CORE_ENGINE_ROW_MENTIONS_H_
#define EMBD_SERVER_CORE_ENGINE_ROW_MENTIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace embd::core {

/// One cell's use of a table's row. A cell may use a row twice, once multiplied by its token factors.
struct Mention {
  std::int64_t row;
  std::uint32_t cell;  ///< a vector a cell would fill 16 GiB before this overflows
  bool scaled;
};

/// The mentions of a table, by row.
///
/// Thread safety: never changes after construction.
class RowMentions {
 public:
  RowMentions() = default;
  /// Cost: a sort; memory for the mentions and three values for each distinct row.
  explicit RowMentions(std::vector<Mention> mentions);

  /// The distinct rows, ascending.
  [[nodiscard]] const std::vector<std::int64_t>& rows() const { return rows_; }
  /// How many cells mention each of them.
  [[nodiscard]] const std::vector<std::int64_t>& cell_counts() const { return cell_counts_; }
  /// The mentions of rows()[i] in order of their cells; of one cell the scaled one first.
  [[nodiscard]] std::span<const Mention> of(std::size_t i) const {
    return std::span(mentions_).subspan(starts_[i], starts_[i + 1] - starts_[i]);
  }

 private:
  std::vector<Mention> mentions_;
  std::vector<std::int64_t> rows_;
  std::vector<std::int64_t> cell_counts_;
  std::vector<std::size_t> starts_;  // one more than rows_
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_ROW_MENTIONS_H_

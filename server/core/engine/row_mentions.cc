#include "server/core/engine/row_mentions.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace embd::core {

RowMentions::RowMentions(std::vector<Mention> mentions) : mentions_(std::move(mentions)) {
  std::sort(mentions_.begin(), mentions_.end(), [](const Mention& a, const Mention& b) {
    return std::tuple(a.row, a.cell, b.scaled) < std::tuple(b.row, b.cell, a.scaled);
  });
  for (std::size_t i = 0; i < mentions_.size(); ++i) {
    const bool new_row = i == 0 || mentions_[i].row != mentions_[i - 1].row;
    if (new_row) {
      rows_.push_back(mentions_[i].row);
      cell_counts_.push_back(0);
      starts_.push_back(i);
    }
    if (new_row || mentions_[i].cell != mentions_[i - 1].cell) ++cell_counts_.back();
  }
  starts_.push_back(mentions_.size());
}

}  // namespace embd::core

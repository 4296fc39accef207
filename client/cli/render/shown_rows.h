#ifndef EMBD_CLIENT_CLI_RENDER_SHOWN_ROWS_H_
#define EMBD_CLIENT_CLI_RENDER_SHOWN_ROWS_H_

#include <cstddef>
#include <string>
#include <vector>

namespace embd::cli {

/// Those of a long table's rows that are shown, made by `row_at(index)`: all, or the first eight and the last four with
/// a row of "…" between.
template <typename RowAt>
[[nodiscard]] std::vector<std::vector<std::string>> ShownRows(std::size_t count, bool all, const RowAt& row_at) {
  constexpr std::size_t kFirst = 8;
  constexpr std::size_t kLast = 4;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < count; ++i) {
    if (all || i < kFirst || count - i <= kLast) {
      rows.push_back(row_at(i));
    } else if (i == kFirst) {
      rows.emplace_back(rows.front().size());
      rows.back().front() = "…";
    }
  }
  return rows;
}

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_RENDER_SHOWN_ROWS_H_

#include "server/core/diagnostics/cosine_similarities.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/diagnostics/fixed_order_dot.h"
#include "server/core/error.h"
#include "server/core/tensor/decode.h"

namespace embd::core {
namespace {

constexpr std::int64_t kDefaultRows = 64;
constexpr double kSmallestNorm = 1e-8;

// Two tiles of rows, as doubles, are held by each thread; together they should stay in a core's own cache.
constexpr std::int64_t kTileElements = 64 << 10;
constexpr std::int64_t kMaxTileRows = 64;

absl::Status InvalidOption(absl::string_view message) { return InvalidArgument("INVALID_OPTION", message); }

absl::Status CheckRowIds(const Table& table, const CosineOptions& options) {
  if (options.first_row != 0 || options.row_count != 0) {
    return InvalidOption("row_ids excludes first_row and row_count");
  }
  if (options.row_ids.size() > static_cast<std::size_t>(kMaxCosineRows)) {
    return InvalidOption(
        absl::StrCat("row_ids names ", options.row_ids.size(), " rows; at most ", kMaxCosineRows, " are allowed"));
  }
  for (std::size_t i = 0; i < options.row_ids.size(); ++i) {
    if (options.row_ids[i] < 0 || options.row_ids[i] >= table.rows()) {
      return InvalidArgument("ID_OUT_OF_RANGE", absl::StrCat("row_ids[", i, "] = ", options.row_ids[i],
                                                             " is not in [0, ", table.rows(), ")"));
    }
  }
  return absl::OkStatus();
}

// The rows that the options mean.
absl::StatusOr<std::vector<std::int64_t>> ChooseRows(const Table& table, CosineOptions options) {
  if (!options.row_ids.empty()) {
    if (absl::Status status = CheckRowIds(table, options); !status.ok()) return status;
    return std::move(options.row_ids);
  }
  const std::int64_t first = options.first_row;
  const std::int64_t count = options.row_count;
  if (first < 0 || first >= table.rows()) {
    return InvalidOption(absl::StrCat("first_row = ", first, " is outside [0, ", table.rows(), ")"));
  }
  const std::int64_t rows_left = table.rows() - first;
  if (count < 0 || count > kMaxCosineRows) {
    return InvalidOption(absl::StrCat("row_count = ", count, " is outside [0, ", kMaxCosineRows, "]"));
  }
  if (count > rows_left) {
    return InvalidOption(
        absl::StrCat("row_count ", count, " from first_row ", first, " exceeds the number of rows ", table.rows()));
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count == 0 ? std::min(kDefaultRows, rows_left) : count));
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

// Some of the chosen rows, decoded.
class Tile {
 public:
  Tile(const Table& table, std::span<const std::int64_t> rows)
      : dim_(static_cast<std::size_t>(table.dim())), values_(rows.size() * dim_) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      DecodeToDouble(table.row(rows[i]), table.element_type(), std::span(values_).subspan(i * dim_, dim_));
    }
  }

  [[nodiscard]] std::span<const double> Row(std::size_t i) const { return std::span(values_).subspan(i * dim_, dim_); }

 private:
  std::size_t dim_;
  std::vector<double> values_;
};

// The dot products of all pairs (i, j) with i <= j, as an (n, n) matrix; what lies below its diagonal is 0.
absl::StatusOr<std::vector<double>> Dots(const Table& table, std::span<const std::int64_t> rows, ShareOut share) {
  const std::size_t n = rows.size();
  const auto tile_rows =
      static_cast<std::size_t>(std::clamp<std::int64_t>(kTileElements / table.dim(), 1, kMaxTileRows));
  const auto tile_at = [&](std::size_t first) { return rows.subspan(first, std::min(tile_rows, n - first)); };
  std::vector<double> dots(n * n);
  const auto compare = [&](std::int64_t index) {
    const std::size_t top = static_cast<std::size_t>(index) * tile_rows;
    const std::size_t height = tile_at(top).size();
    const Tile left(table, tile_at(top));
    for (std::size_t first = top; first < n; first += tile_rows) {
      const std::size_t width = tile_at(first).size();
      const Tile right(table, tile_at(first));
      for (std::size_t i = 0; i < height; ++i) {
        for (std::size_t j = first == top ? i : 0; j < width; ++j) {
          dots[(top + i) * n + first + j] = FixedOrderDot(left.Row(i), right.Row(j));
        }
      }
    }
  };
  const auto pieces = static_cast<std::int64_t>((n + tile_rows - 1) / tile_rows);
  if (absl::Status status = share(pieces, compare); !status.ok()) return status;
  return dots;
}

}  // namespace

absl::StatusOr<CosineMatrix> CosineSimilarities(const Table& table, CosineOptions options, ShareOut share) {
  auto rows = ChooseRows(table, std::move(options));
  if (!rows.ok()) return rows.status();
  const auto dots = Dots(table, *rows, share);
  if (!dots.ok()) return dots.status();

  const std::size_t n = rows->size();
  std::vector<double> norms(n);
  for (std::size_t i = 0; i < n; ++i) norms[i] = std::max(std::sqrt((*dots)[i * n + i]), kSmallestNorm);
  CosineMatrix matrix = {.row_ids = *std::move(rows), .cosines = std::vector<float>(n * n)};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) {
      const double cosine = std::clamp((*dots)[i * n + j] / (norms[i] * norms[j]), -1.0, 1.0);
      matrix.cosines[i * n + j] = matrix.cosines[j * n + i] = static_cast<float>(cosine);
    }
  }
  return matrix;
}

}  // namespace embd::core

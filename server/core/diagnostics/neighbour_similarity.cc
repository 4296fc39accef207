#include "server/core/diagnostics/neighbour_similarity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/diagnostics/fixed_order_dot.h"
#include "server/core/error.h"
#include "server/core/tensor/aligned_buffer.h"
#include "server/core/tensor/decode.h"

namespace embd::core {
namespace {

constexpr std::int64_t kDefaultMaxOffset = 8;
constexpr double kSmallestNorm = 1e-8;
constexpr double kRiseAllowed = 1e-3;

// Two tiles of rows, as doubles, are held at a time; together they should stay in a core's own cache.
constexpr std::int64_t kTileBytes = 512 << 10;
constexpr std::int64_t kMinTileRows = 8;
constexpr std::int64_t kMaxTileRows = 64;

absl::Status InvalidOption(absl::string_view message) { return InvalidArgument("INVALID_OPTION", message); }

// Checks the options against the table and fills in what 0 stands for.
absl::StatusOr<NeighbourOptions> Resolve(const Table& table, NeighbourOptions options) {
  if (options.first_row < 0 || options.first_row >= table.rows()) {
    return InvalidOption(absl::StrCat("first_row = ", options.first_row, " is outside [0, ", table.rows(), ")"));
  }
  const std::int64_t rows_left = table.rows() - options.first_row;
  if (options.row_count < 0) return InvalidOption(absl::StrCat("row_count must be >= 0, got ", options.row_count));
  if (options.row_count > rows_left) {
    return InvalidOption(absl::StrCat("row_count ", options.row_count, " from first_row ", options.first_row,
                                      " exceeds the number of rows ", table.rows()));
  }
  if (options.row_count == 0) options.row_count = rows_left;
  if (options.max_offset == 0) {
    options.max_offset = std::clamp<std::int64_t>(options.row_count - 1, 1, kDefaultMaxOffset);
  }
  if (options.max_offset < 1) {
    return InvalidOption(absl::StrCat("max_offset must be >= 1, got ", options.max_offset));
  }
  if (options.max_offset > kMaxNeighbourOffset) {
    return InvalidOption(absl::StrCat("max_offset must be <= ", kMaxNeighbourOffset, ", got ", options.max_offset));
  }
  if (options.max_offset >= options.row_count) {
    return InvalidOption(
        absl::StrCat("max_offset ", options.max_offset, " must be < number of rows ", options.row_count));
  }
  return options;
}

bool MustStop(const std::function<bool()>& stop) { return stop && stop(); }

std::span<double> Doubles(AlignedBuffer& buffer) {
  return {reinterpret_cast<double*>(buffer.data()), buffer.size() / sizeof(double)};
}

// Compares the rows of a checked window. Rows count from the window's start.
class Comparison {
 public:
  Comparison(const Table& table, const NeighbourOptions& window, const std::function<bool()>& stop)
      : table_(table), window_(window), stop_(stop), dim_(static_cast<std::size_t>(table.dim())) {
    const auto offsets = static_cast<std::size_t>(window.max_offset);
    curve_.rows = window.row_count;
    curve_.mean.assign(offsets, 0.0);
    curve_.min.assign(offsets, std::numeric_limits<double>::infinity());
    curve_.max.assign(offsets, -std::numeric_limits<double>::infinity());
    const std::int64_t row_bytes = std::min(table.dim(), kTileBytes) * static_cast<std::int64_t>(sizeof(double));
    tile_rows_ = std::min(std::clamp(kTileBytes / row_bytes, kMinTileRows, kMaxTileRows), window.row_count);
  }

  absl::StatusOr<NeighbourCurve> Run() && {
    if (absl::Status status = Allocate(); !status.ok()) return status;
    if (absl::Status status = ComputeNorms(); !status.ok()) return status;
    if (absl::Status status = AddCosines(); !status.ok()) return status;
    for (std::size_t i = 0; i < curve_.mean.size(); ++i) {
      curve_.mean[i] /= static_cast<double>(window_.row_count - static_cast<std::int64_t>(i) - 1);
      if (i > 0) curve_.monotone_steps += curve_.mean[i - 1] >= curve_.mean[i] - kRiseAllowed;
    }
    return std::move(curve_);
  }

 private:
  // Rows [first, first + count) of the window, decoded.
  struct Tile {
    AlignedBuffer buffer;
    std::int64_t first = 0;
    std::int64_t count = 0;
  };

  absl::Status Allocate() {
    const std::size_t tile_size = static_cast<std::size_t>(tile_rows_) * dim_ * sizeof(double);
    for (auto [buffer, size] : {std::pair{&norms_, static_cast<std::size_t>(window_.row_count) * sizeof(double)},
                                std::pair{&left_.buffer, tile_size}, std::pair{&right_.buffer, tile_size}}) {
      auto allocated = AlignedBuffer::Allocate(size);
      if (!allocated.ok()) return allocated.status();
      *buffer = *std::move(allocated);
    }
    return absl::OkStatus();
  }

  void Decode(std::int64_t first, Tile& tile) {
    tile.first = first;
    tile.count = std::min(tile_rows_, window_.row_count - first);
    DecodeToDouble(table_.row(window_.first_row + first), table_.element_type(),
                   Doubles(tile.buffer).first(static_cast<std::size_t>(tile.count) * dim_));
  }

  // Row `row` of the window, which `tile` holds.
  std::span<const double> Row(Tile& tile, std::int64_t row) const {
    return Doubles(tile.buffer).subspan(static_cast<std::size_t>(row - tile.first) * dim_, dim_);
  }

  double& Norm(std::int64_t row) { return Doubles(norms_)[static_cast<std::size_t>(row)]; }

  absl::Status ComputeNorms() {
    for (std::int64_t first = 0; first < window_.row_count; first += tile_rows_) {
      if (MustStop(stop_)) return absl::CancelledError("neighbour similarity was cancelled");
      Decode(first, left_);
      for (std::int64_t row = first; row < first + left_.count; ++row) {
        const std::span<const double> values = Row(left_, row);
        const double norm = std::sqrt(FixedOrderDot(values, values));
        curve_.zero_rows += norm < kSmallestNorm;
        Norm(row) = std::max(norm, kSmallestNorm);
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddCosines() {
    for (std::int64_t left = 0; left < window_.row_count; left += tile_rows_) {
      Decode(left, left_);
      // Tiles with a row that lies 1 … max_offset after one of the left tile, the left tile's own rows included.
      const std::int64_t end = std::min(left + left_.count + window_.max_offset, window_.row_count);
      for (std::int64_t right = left; right < end; right += tile_rows_) {
        if (MustStop(stop_)) return absl::CancelledError("neighbour similarity was cancelled");
        Decode(right, right_);
        AddTile();
      }
    }
    return absl::OkStatus();
  }

  // For each offset, cosines are added in ascending order of row: left tiles ascend, and within one its right tiles do.
  void AddTile() {
    for (std::int64_t row = left_.first; row < left_.first + left_.count; ++row) {
      const std::int64_t first = std::max(row + 1, right_.first);
      const std::int64_t last = std::min(row + window_.max_offset, right_.first + right_.count - 1);
      for (std::int64_t other = first; other <= last; ++other) {
        const double dot = FixedOrderDot(Row(left_, row), Row(right_, other));
        AddCosine(other - row, dot / (Norm(row) * Norm(other)));
      }
    }
  }

  void AddCosine(std::int64_t offset, double cosine) {
    const auto i = static_cast<std::size_t>(offset - 1);
    cosine = std::clamp(cosine, -1.0, 1.0);
    curve_.mean[i] += cosine;
    // Once NaN, always NaN: comparisons with it are false.
    if (cosine < curve_.min[i] || std::isnan(cosine)) curve_.min[i] = cosine;
    if (cosine > curve_.max[i] || std::isnan(cosine)) curve_.max[i] = cosine;
  }

  const Table& table_;
  const NeighbourOptions& window_;
  const std::function<bool()>& stop_;
  std::size_t dim_;
  std::int64_t tile_rows_;
  AlignedBuffer norms_;
  Tile left_;
  Tile right_;
  NeighbourCurve curve_;
};

}  // namespace

absl::StatusOr<NeighbourCurve> NeighbourSimilarity(const Table& table, const NeighbourOptions& options,
                                                   const std::function<bool()>& stop) {
  const auto window = Resolve(table, options);
  if (!window.ok()) return window.status();
  return Comparison(table, *window, stop).Run();
}

std::vector<double> SinusoidalClosedForm(std::int64_t dim, double base, std::int64_t max_offset) {
  std::vector<double> frequencies;
  for (std::int64_t column = 0; column < dim; column += 2) {
    frequencies.push_back(std::pow(base, -static_cast<double>(column) / static_cast<double>(dim)));
  }
  std::vector<double> curve;
  for (std::int64_t offset = 1; offset <= max_offset; ++offset) {
    double sum = 0.0;
    for (const double frequency : frequencies) sum += std::cos(static_cast<double>(offset) * frequency);
    curve.push_back(2.0 / static_cast<double>(dim) * sum);
  }
  return curve;
}

}  // namespace embd::core

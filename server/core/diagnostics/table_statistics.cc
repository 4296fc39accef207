#include "server/core/diagnostics/table_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/core/diagnostics/fixed_order_dot.h"
#include "server/core/error.h"
#include "server/core/tensor/aligned_buffer.h"
#include "server/core/tensor/decode.h"

namespace embd::core {
namespace {

constexpr std::int64_t kDefaultBins = 20;

// Elements that are decoded at a time; they stay in a core's own cache.
constexpr std::int64_t kPieceElements = 4096;

// Rows are looked at in blocks, each of them on one thread. What is known of all blocks is held until the end.
constexpr std::int64_t kMinBlockElements = 1 << 16;
constexpr std::int64_t kMaxBlocks = 4096;

std::int64_t DivideUp(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

void Append(const std::vector<std::int64_t>& rows, std::vector<std::int64_t>* list) {
  const std::size_t room = kMaxListedRows - list->size();
  list->insert(list->end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(room, rows.size())));
}

// Goes through the rows of one block.
class Block {
 public:
  explicit Block(const Table& table)
      : table_(table), piece_(static_cast<std::size_t>(std::min(table.dim(), kPieceElements))) {}

  // Takes in a row. Returns its norm, which is not finite where the row is not.
  double Add(std::int64_t row) {
    double squares = 0.0;
    bool only_zeros = true;
    bool only_finite = true;
    for (std::int64_t column = 0; column < table_.dim(); column += kPieceElements) {
      const std::span<double> values = Decode(row, column);
      const double piece_squares = FixedOrderDot(values, values);
      squares += piece_squares;
      std::span<double> finite = values;
      if (!std::isfinite(piece_squares)) {  // a bad element, or squares that overflow
        finite = values.first(SetAsideBad(row, column, values));
        only_finite = only_finite && finite.size() == values.size();
      }
      const Moments moments = MomentsOf(finite);
      only_zeros = only_zeros && only_finite && moments.min == 0.0 && moments.max == 0.0;
      found_.elements.Add(moments);
    }
    if (!only_finite) Append({row}, &found_.bad_rows);
    if (only_zeros) {
      ++found_.zero_rows;
      Append({row}, &found_.first_zero_rows);
    }
    return std::sqrt(squares);
  }

  // The block's statistics, when all its rows have been added. `norms` are theirs.
  TableStatistics Finish(std::span<const double> norms) && {
    std::vector<double> finite(static_cast<std::size_t>(kPieceElements));
    while (!norms.empty()) {
      const std::span<const double> some = norms.first(std::min(norms.size(), finite.size()));
      const auto end =
          std::copy_if(some.begin(), some.end(), finite.begin(), [](double n) { return std::isfinite(n); });
      found_.norms.Add(MomentsOf({finite.begin(), end}));
      norms = norms.subspan(some.size());
    }
    return std::move(found_);
  }

 private:
  std::span<double> Decode(std::int64_t row, std::int64_t column) {
    const auto count = static_cast<std::size_t>(std::min(table_.dim() - column, kPieceElements));
    const std::span<double> values = std::span(piece_).first(count);
    DecodeToDouble(table_.row(row) + static_cast<std::size_t>(column) * ElementSize(table_.element_type()),
                   table_.element_type(), values);
    return values;
  }

  // Counts what is not finite and moves the rest to the front; returns how much that is.
  std::size_t SetAsideBad(std::int64_t row, std::int64_t column, std::span<double> values) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) {
        values[kept++] = values[i];
        continue;
      }
      ++(std::isnan(values[i]) ? found_.nan_count : found_.inf_count);
      if (!found_.first_bad_cell.has_value()) {
        found_.first_bad_cell = {row, column + static_cast<std::int64_t>(i)};
      }
    }
    return kept;
  }

  const Table& table_;
  std::vector<double> piece_;
  TableStatistics found_;
};

// Takes in the block that follows.
void Merge(const TableStatistics& block, TableStatistics* all) {
  all->elements.Add(block.elements);
  all->norms.Add(block.norms);
  all->nan_count += block.nan_count;
  all->inf_count += block.inf_count;
  if (!all->first_bad_cell.has_value()) all->first_bad_cell = block.first_bad_cell;
  Append(block.bad_rows, &all->bad_rows);
  all->zero_rows += block.zero_rows;
  Append(block.first_zero_rows, &all->first_zero_rows);
}

// Counts those of `values` that are finite; `range` is theirs.
Histogram CountIntoBins(std::span<const double> values, const Moments& range, std::int64_t bins) {
  Histogram histogram;
  if (range.count == 0) return histogram;
  const double half = range.min == range.max ? 0.5 : 0.0;
  const double low = range.min - half;
  const double width = (range.max + half - low) / static_cast<double>(bins);
  for (std::int64_t i = 0; i < bins; ++i) histogram.edges.push_back(low + width * static_cast<double>(i));
  histogram.edges.push_back(range.max + half);
  histogram.counts.assign(static_cast<std::size_t>(bins), 0);
  const auto inner = std::span(histogram.edges).subspan(1, static_cast<std::size_t>(bins) - 1);
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const auto bin = std::upper_bound(inner.begin(), inner.end(), value) - inner.begin();
    ++histogram.counts[static_cast<std::size_t>(bin)];
  }
  return histogram;
}

template <typename T>
std::span<T> As(AlignedBuffer& buffer) {
  static_assert(sizeof(T) == 8);
  return {reinterpret_cast<T*>(buffer.data()), buffer.size() / sizeof(T)};
}

absl::StatusOr<AlignedBuffer> AllocateForRows(const Table& table) {
  auto buffer = AlignedBuffer::Allocate(static_cast<std::size_t>(table.rows()) * 8);
  if (buffer.ok()) return buffer;
  return Error(
      absl::StatusCode::kResourceExhausted, "REQUEST_TOO_LARGE",
      absl::StrCat("the statistics of ", table.rows(), " rows take 16 bytes a row; ", buffer.status().message()));
}

}  // namespace

absl::StatusOr<TableStatistics> ComputeTableStatistics(const Table& table, std::int64_t bins, ShareOut share) {
  if (bins < 0 || bins > kMaxHistogramBins) {
    return InvalidArgument("INVALID_OPTION",
                           absl::StrCat("histogram_bins = ", bins, " is outside [0, ", kMaxHistogramBins, "]"));
  }
  auto norms_or_order = AllocateForRows(table);
  if (!norms_or_order.ok()) return norms_or_order.status();
  auto hash_buffer = AllocateForRows(table);
  if (!hash_buffer.ok()) return hash_buffer.status();
  const std::span<double> norms = As<double>(*norms_or_order);
  const std::span<std::uint64_t> hashes = As<std::uint64_t>(*hash_buffer);

  const std::int64_t block_rows =
      std::max(DivideUp(kMinBlockElements, table.dim()), DivideUp(table.rows(), kMaxBlocks));
  std::vector<TableStatistics> blocks(static_cast<std::size_t>(DivideUp(table.rows(), block_rows)));
  const auto look = [&](std::int64_t index) {
    Block block(table);
    const std::int64_t first = index * block_rows;
    const std::int64_t end = std::min(first + block_rows, table.rows());
    for (std::int64_t row = first; row < end; ++row) {
      const auto i = static_cast<std::size_t>(row);
      norms[i] = block.Add(row);
      hashes[i] = absl::HashOf(absl::string_view(reinterpret_cast<const char*>(table.row(row)), table.row_bytes()));
    }
    blocks[static_cast<std::size_t>(index)] =
        std::move(block).Finish(norms.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first)));
  };
  if (absl::Status status = share(static_cast<std::int64_t>(blocks.size()), look); !status.ok()) return status;

  TableStatistics all;
  for (const TableStatistics& block : blocks) Merge(block, &all);
  all.histogram = CountIntoBins(norms, all.norms, bins == 0 ? kDefaultBins : bins);
  // The norms are not needed any more, and their place is.
  auto duplicates = FindDuplicateRows(table, hashes, As<std::int64_t>(*norms_or_order), kMaxListedRows, share);
  if (!duplicates.ok()) return duplicates.status();
  all.duplicates = *std::move(duplicates);
  return all;
}

}  // namespace embd::core

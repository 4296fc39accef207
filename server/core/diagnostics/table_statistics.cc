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

// What is kept of each row.
struct RowFigures {
  std::span<double> norms;  // not finite where the row is not
  std::span<std::uint64_t> hashes;
};

// Goes through the rows of one block.
class Block {
 public:
  // Writes to `figures`, which are of all rows of the table.
  Block(const Table& table, const RowFigures& figures)
      : table_(table), figures_(figures), piece_(static_cast<std::size_t>(kPieceElements)) {}

  // The statistics of rows [first, end), without histogram and duplicates.
  TableStatistics LookAt(std::int64_t first, std::int64_t end) && {
    const std::int64_t dim = table_.dim();
    for (std::int64_t element = first * dim; element < end * dim;) {
      // Whole rows, or a part of one row.
      const std::int64_t most = dim <= kPieceElements ? kPieceElements / dim * dim : dim - element % dim;
      const std::int64_t count = std::min({most, kPieceElements, end * dim - element});
      AddPiece(element, Decode(element, count));
      element += count;
    }
    AddNorms(first, end);
    return std::move(found_);
  }

 private:
  struct Row {
    double squares = 0.0;
    bool only_zeros = true;
    bool bad = false;
  };

  std::span<double> Decode(std::int64_t element, std::int64_t count) {
    const std::span<double> values = std::span(piece_).first(static_cast<std::size_t>(count));
    const ElementType type = table_.element_type();
    DecodeToDouble(table_.bytes().data() + static_cast<std::size_t>(element) * ElementSize(type), type, values);
    return values;
  }

  // `values` are the elements from `element` on, where a row or a further part of one begins.
  void AddPiece(std::int64_t element, std::span<double> values) {
    const std::int64_t bad_before = found_.nan_count + found_.inf_count;
    for (std::span<const double> rest = values; !rest.empty();) {
      const std::int64_t row = element / table_.dim();
      const auto left_in_row = static_cast<std::size_t>((row + 1) * table_.dim() - element);
      const std::span<const double> part = rest.first(std::min(rest.size(), left_in_row));
      AddPartOfRow(element, part);
      if (part.size() == left_in_row) EndRow(row);
      rest = rest.subspan(part.size());
      element += static_cast<std::int64_t>(part.size());
    }
    if (found_.nan_count + found_.inf_count == bad_before) {
      found_.elements.Add(MomentsOf(values));
    } else {
      const auto end = std::remove_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
      found_.elements.Add(MomentsOf({values.begin(), end}));
    }
  }

  void AddPartOfRow(std::int64_t element, std::span<const double> part) {
    const double squares = FixedOrderDot(part, part);
    row_.squares += squares;
    row_.only_zeros =
        row_.only_zeros && squares == 0.0 && std::count(part.begin(), part.end(), 0.0) == std::ssize(part);
    if (std::isfinite(squares)) return;
    for (std::size_t i = 0; i < part.size(); ++i) {  // may find nothing bad, where the squares have overflowed
      if (std::isfinite(part[i])) continue;
      ++(std::isnan(part[i]) ? found_.nan_count : found_.inf_count);
      row_.bad = true;
      if (found_.first_bad_cell.has_value()) continue;
      const std::int64_t cell = element + static_cast<std::int64_t>(i);
      found_.first_bad_cell = {cell / table_.dim(), cell % table_.dim()};
    }
  }

  void EndRow(std::int64_t row) {
    if (row_.bad) Append({row}, &found_.bad_rows);
    if (row_.only_zeros) {
      ++found_.zero_rows;
      Append({row}, &found_.first_zero_rows);
    }
    const auto i = static_cast<std::size_t>(row);
    figures_.norms[i] = std::sqrt(row_.squares);
    figures_.hashes[i] =
        absl::HashOf(absl::string_view(reinterpret_cast<const char*>(table_.row(row)), table_.row_bytes()));
    row_ = {};
  }

  void AddNorms(std::int64_t first, std::int64_t end) {
    std::span<const double> norms =
        figures_.norms.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
    while (!norms.empty()) {
      const std::span<const double> some = norms.first(std::min(norms.size(), piece_.size()));
      const auto last =
          std::copy_if(some.begin(), some.end(), piece_.begin(), [](double n) { return std::isfinite(n); });
      found_.norms.Add(MomentsOf({piece_.begin(), last}));
      norms = norms.subspan(some.size());
    }
  }

  const Table& table_;
  const RowFigures& figures_;
  std::vector<double> piece_;
  Row row_;  // what has been seen of the row that is looked at
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
  const RowFigures figures = {.norms = As<double>(*norms_or_order), .hashes = As<std::uint64_t>(*hash_buffer)};

  const std::int64_t block_rows =
      std::max(DivideUp(kMinBlockElements, table.dim()), DivideUp(table.rows(), kMaxBlocks));
  std::vector<TableStatistics> blocks(static_cast<std::size_t>(DivideUp(table.rows(), block_rows)));
  const auto look = [&](std::int64_t index) {
    const std::int64_t first = index * block_rows;
    blocks[static_cast<std::size_t>(index)] =
        Block(table, figures).LookAt(first, std::min(first + block_rows, table.rows()));
  };
  if (absl::Status status = share(static_cast<std::int64_t>(blocks.size()), look); !status.ok()) return status;

  TableStatistics all;
  for (const TableStatistics& block : blocks) Merge(block, &all);
  all.histogram = CountIntoBins(figures.norms, all.norms, bins == 0 ? kDefaultBins : bins);
  // The norms are not needed any more, and their place is.
  auto duplicates = FindDuplicateRows(table, figures.hashes, As<std::int64_t>(*norms_or_order), kMaxListedRows, share);
  if (!duplicates.ok()) return duplicates.status();
  all.duplicates = *std::move(duplicates);
  return all;
}

}  // namespace embd::core

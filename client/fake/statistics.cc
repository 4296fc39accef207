#include "client/fake/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/fake/lookup.h"
#include "client/fake/refusal.h"
#include "client/fake/table_choice.h"

namespace embd::client::fake {
namespace {

constexpr std::int32_t kDefaultBins = 20;
constexpr std::int32_t kMaxBins = 1024;
constexpr std::size_t kMaxListed = 16;
constexpr std::int64_t kDefaultRows = 64;
constexpr std::int64_t kMaxCosineRows = 1024;
constexpr double kSmallestNorm = 1e-8;

double Dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += double{a[d]} * double{b[d]};
  return sum;
}

double Mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Deviation(const std::vector<double>& values) {
  if (values.empty()) return 0;
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

void List(std::int64_t row, std::vector<std::int64_t>* rows) {
  if (rows->size() < kMaxListed) rows->push_back(row);
}

std::string BytesOf(std::span<const float> row) {
  std::string bytes(row.size_bytes(), '\0');
  std::memcpy(bytes.data(), row.data(), bytes.size());
  return bytes;
}

void FillHistogram(const std::vector<double>& norms, std::int32_t bins, TableStatistics* result) {
  if (norms.empty()) return;
  const double half = result->norm_min == result->norm_max ? 0.5 : 0;
  const double low = result->norm_min - half;
  const double high = result->norm_max + half;
  for (std::int32_t i = 0; i < bins; ++i) result->histogram_edges.push_back(low + (high - low) / bins * i);
  result->histogram_edges.push_back(high);
  result->histogram_counts.assign(static_cast<std::size_t>(bins), 0);
  for (const double norm : norms) {
    std::size_t bin = static_cast<std::size_t>(bins) - 1;
    while (bin > 0 && norm < result->histogram_edges[bin]) --bin;
    ++result->histogram_counts[bin];
  }
}

// Counts and lists what is wrong; gathers the elements and norms that are right.
void LookAtRows(const ChosenTable& table, std::vector<double>* elements, std::vector<double>* norms,
                TableStatistics* result) {
  std::map<std::string, std::int64_t> seen;
  for (std::int64_t r = 0; r < table.rows; ++r) {
    const std::span<const float> row = table.row(r);
    for (std::size_t d = 0; d < row.size(); ++d) {
      result->nan_count += std::isnan(row[d]) ? 1 : 0;
      result->inf_count += std::isinf(row[d]) ? 1 : 0;
      if (std::isfinite(row[d])) {
        elements->push_back(row[d]);
      } else if (result->first_bad_cell.empty()) {
        result->first_bad_cell = {r, static_cast<std::int64_t>(d)};
      }
    }
    const double norm = std::sqrt(Dot(row, row));
    if (std::isfinite(norm)) {
      norms->push_back(norm);
    } else {
      List(r, &result->bad_rows);
    }
    if (norm == 0) {
      ++result->zero_rows;
      List(r, &result->first_zero_rows);
    }
    if (const auto [earlier, is_new] = seen.emplace(BytesOf(row), r); !is_new) {
      if (result->duplicate_rows++ < static_cast<std::int64_t>(kMaxListed)) {
        result->first_duplicate_rows.push_back(r);
        result->duplicates_of.push_back(earlier->second);
      }
    }
  }
}

// Fills in the rows that a window means.
absl::StatusOr<std::vector<std::int64_t>> RowsOf(const CosineSimilaritiesRequest& request, std::int64_t table_rows) {
  if (request.row_ids.empty()) {
    if (request.first_row < 0 || request.first_row >= table_rows) {
      return Invalid("INVALID_OPTION",
                     absl::StrCat("first_row = ", request.first_row, " is outside [0, ", table_rows, ")"));
    }
    const std::int64_t most = std::min(table_rows - request.first_row, kMaxCosineRows);
    if (request.row_count < 0 || request.row_count > most) {
      return Invalid("INVALID_OPTION", absl::StrCat("row_count = ", request.row_count, " is outside [0, ", most, "]"));
    }
    const std::int64_t count = request.row_count == 0 ? std::min(most, kDefaultRows) : request.row_count;
    std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), request.first_row);
    return rows;
  }
  if (request.first_row != 0 || request.row_count != 0) {
    return Invalid("INVALID_OPTION", "row_ids excludes first_row and row_count");
  }
  if (request.row_ids.size() > static_cast<std::size_t>(kMaxCosineRows)) {
    return Invalid("INVALID_OPTION", absl::StrCat("row_ids names more than ", kMaxCosineRows, " rows"));
  }
  for (const std::int64_t row : request.row_ids) {
    if (row < 0 || row >= table_rows) {
      return Invalid("ID_OUT_OF_RANGE", absl::StrCat("row ", row, " is not in [0, ", table_rows, ")"));
    }
  }
  return request.row_ids;
}

}  // namespace

absl::StatusOr<TableStatistics> ComputeStatistics(const FakeModel& model, const TableStatisticsRequest& request) {
  const auto table = ChooseTable(model, request.table, TableKind::kToken);
  if (!table.ok()) return table.status();
  if (request.histogram_bins < 0 || request.histogram_bins > kMaxBins) {
    return Invalid("INVALID_OPTION",
                   absl::StrCat("histogram_bins = ", request.histogram_bins, " is outside [0, ", kMaxBins, "]"));
  }
  TableStatistics result = {.model = model.name,
                            .model_version = model.version,
                            .table = table->kind,
                            .rows = table->rows,
                            .embedding_dim = table->dim,
                            .data_type = DataType::kFloat32};
  for (const TableDescription& described : Describe(model).tables) {
    if (described.kind != table->kind) continue;
    result.parameter_count = described.parameter_count;
    result.byte_size = described.byte_size;
    result.checksum = described.checksum;
  }
  std::vector<double> elements;
  std::vector<double> norms;
  LookAtRows(*table, &elements, &norms, &result);
  result.mean = Mean(elements);
  result.std = Deviation(elements);
  if (!elements.empty()) {
    result.min = *std::min_element(elements.begin(), elements.end());
    result.max = *std::max_element(elements.begin(), elements.end());
  }
  result.norm_mean = Mean(norms);
  result.norm_std = Deviation(norms);
  if (!norms.empty()) {
    result.norm_min = *std::min_element(norms.begin(), norms.end());
    result.norm_max = *std::max_element(norms.begin(), norms.end());
  }
  FillHistogram(norms, request.histogram_bins == 0 ? kDefaultBins : request.histogram_bins, &result);
  return result;
}

absl::StatusOr<CosineSimilarities> CompareRows(const FakeModel& model, const CosineSimilaritiesRequest& request) {
  const auto table =
      ChooseTable(model, request.table, PositionRows(model) > 0 ? TableKind::kPosition : TableKind::kToken);
  if (!table.ok()) return table.status();
  auto rows = RowsOf(request, table->rows);
  if (!rows.ok()) return rows.status();
  CosineSimilarities result = {
      .model = model.name, .model_version = model.version, .table = table->kind, .row_ids = *std::move(rows)};
  for (const std::int64_t a : result.row_ids) {
    for (const std::int64_t b : result.row_ids) {
      const std::span<const float> left = table->row(a);
      const std::span<const float> right = table->row(b);
      const double norms =
          std::max(std::sqrt(Dot(left, left)), kSmallestNorm) * std::max(std::sqrt(Dot(right, right)), kSmallestNorm);
      result.cosines.push_back(static_cast<float>(std::clamp(Dot(left, right) / norms, -1.0, 1.0)));
    }
  }
  return result;
}

}  // namespace embd::client::fake

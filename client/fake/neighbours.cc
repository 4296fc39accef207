#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "client/fake/lookup.h"
#include "client/fake/refusal.h"
#include "client/fake/table_choice.h"

namespace embd::client::fake {
namespace {

constexpr std::int64_t kDefaultMaxOffset = 8;
constexpr std::int64_t kMaxOffset = 4096;
constexpr double kSmallestNorm = 1e-8;
constexpr double kRise = 1e-3;

double Dot(const float* a, const float* b, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t d = 0; d < dim; ++d) sum += double{a[d]} * double{b[d]};
  return sum;
}

void AddOffset(const float* rows, std::int64_t count, std::int64_t dim, std::int64_t offset, NeighbourCurve* curve) {
  double sum = 0;
  double least = 1;
  double most = -1;
  for (std::int64_t p = 0; p + offset < count; ++p) {
    const float* const a = rows + p * dim;
    const float* const b = a + offset * dim;
    const double cosine = Dot(a, b, dim) / (std::max(std::sqrt(Dot(a, a, dim)), kSmallestNorm) *
                                            std::max(std::sqrt(Dot(b, b, dim)), kSmallestNorm));
    sum += cosine;
    least = std::min(least, cosine);
    most = std::max(most, cosine);
  }
  curve->mean_cosine.push_back(sum / static_cast<double>(count - offset));
  curve->min_cosine.push_back(least);
  curve->max_cosine.push_back(most);
}

absl::Status InvalidOption(absl::string_view message) { return Invalid("INVALID_OPTION", message); }

// Fills in what 0 stands for.
absl::StatusOr<NeighbourSimilarityRequest> Resolve(NeighbourSimilarityRequest request, std::int64_t table_rows) {
  if (request.first_row < 0 || request.first_row >= table_rows) {
    return InvalidOption(absl::StrCat("first_row = ", request.first_row, " is outside [0, ", table_rows, ")"));
  }
  const std::int64_t rows_left = table_rows - request.first_row;
  if (request.row_count < 0 || request.row_count > rows_left) {
    return InvalidOption(absl::StrCat("row_count = ", request.row_count, " is outside [0, ", rows_left, "]"));
  }
  if (request.row_count == 0) request.row_count = rows_left;
  if (request.max_offset == 0) {
    request.max_offset = std::clamp<std::int64_t>(request.row_count - 1, 1, kDefaultMaxOffset);
  }
  if (request.max_offset < 1 || request.max_offset > kMaxOffset || request.max_offset >= request.row_count) {
    return InvalidOption(absl::StrCat("max_offset ", request.max_offset, " is less than 1, more than ", kMaxOffset,
                                      " or not less than the number of rows ", request.row_count));
  }
  return request;
}

}  // namespace

absl::StatusOr<NeighbourCurve> CompareNeighbours(const FakeModel& model, const NeighbourSimilarityRequest& request) {
  const auto table = ChooseTable(model, request.table, TableKind::kPosition);
  if (!table.ok()) return table.status();
  const auto window = Resolve(request, table->rows);
  if (!window.ok()) return window.status();
  const std::int64_t count = window->row_count;
  const std::int64_t dim = table->dim;
  const float* const rows = table->row(window->first_row).data();
  NeighbourCurve curve = {.model = model.name, .model_version = model.version, .table = table->kind, .rows = count};
  for (std::int64_t k = 1; k <= window->max_offset; ++k) AddOffset(rows, count, dim, k, &curve);
  for (std::int64_t p = 0; p < count; ++p) {
    curve.zero_rows += std::sqrt(Dot(rows + p * dim, rows + p * dim, dim)) < kSmallestNorm ? 1 : 0;
  }
  for (std::size_t k = 0; k + 1 < curve.mean_cosine.size(); ++k) {
    curve.monotone_steps += curve.mean_cosine[k] >= curve.mean_cosine[k + 1] - kRise ? 1 : 0;
  }
  return curve;
}

}  // namespace embd::client::fake

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/fake/lookup.h"
#include "embd/client/error.h"

namespace embd::client::fake {
namespace {

constexpr std::int64_t kDefaultMaxOffset = 8;
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

}  // namespace

absl::StatusOr<NeighbourCurve> CompareNeighbours(const FakeModel& model, const NeighbourSimilarityRequest& request) {
  const bool of_tokens = request.table == TableKind::kToken;
  const std::int64_t table_rows = of_tokens ? VocabSize(model) : PositionRows(model);
  const bool known = of_tokens || request.table == TableKind::kPosition || request.table == TableKind::kUnspecified;
  if (!known || table_rows == 0) {
    return ErrorWithReason(absl::StatusCode::kFailedPrecondition, known ? "NO_POSITION_TABLE" : "NO_SUCH_TABLE",
                           absl::StrCat("model \"", model.name, "\" has no such table"));
  }
  const std::int64_t first = request.first_row;
  const std::int64_t count = request.row_count == 0 ? table_rows - first : request.row_count;
  const std::int64_t offsets = request.max_offset == 0 ? std::min(kDefaultMaxOffset, count - 1) : request.max_offset;
  if (first < 0 || first >= table_rows || offsets < 1 || count <= offsets || count > table_rows - first) {
    return ErrorWithReason(absl::StatusCode::kInvalidArgument, "INVALID_OPTION",
                           absl::StrCat("max_offset ", request.max_offset, ", first_row ", first, " and row_count ",
                                        request.row_count, " do not fit a table of ", table_rows, " rows"));
  }
  const std::int64_t dim = model.embedding_dim;
  const float* const rows = (of_tokens ? model.token : model.position).data() + first * dim;
  NeighbourCurve curve = {.model = model.name,
                          .model_version = model.version,
                          .table = of_tokens ? TableKind::kToken : TableKind::kPosition,
                          .rows = count};
  for (std::int64_t k = 1; k <= offsets; ++k) AddOffset(rows, count, dim, k, &curve);
  for (std::int64_t p = 0; p < count; ++p) {
    curve.zero_rows += std::sqrt(Dot(rows + p * dim, rows + p * dim, dim)) < kSmallestNorm ? 1 : 0;
  }
  for (std::size_t k = 0; k + 1 < curve.mean_cosine.size(); ++k) {
    curve.monotone_steps += curve.mean_cosine[k] >= curve.mean_cosine[k + 1] - kRise ? 1 : 0;
  }
  return curve;
}

}  // namespace embd::client::fake

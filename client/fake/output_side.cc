#include "client/fake/output_side.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/fake/lookup.h"
#include "client/fake/refusal.h"
#include "client/fake/widen.h"

namespace embd::client::fake {
namespace {

constexpr std::size_t kMostVectors = 1024;

absl::Status CheckRequest(const FakeModel& model, const GradientRequest& request) {
  const bool has_batch = !request.ids.empty() || request.batch_size != 0 || request.sequence_length != 0 ||
                         !request.position_offsets.empty() || !request.position_ids.empty() ||
                         !request.token_type_ids.empty() || !request.row_lengths.empty() ||
                         !request.attention_mask.empty() || request.output_gradient.has_value() ||
                         request.part > Part::kComposed;
  if (has_batch) return Invalid("INVALID_OPTION", "output_side and a batch exclude each other");
  if (request.tables.empty() || request.tables == std::vector<TableKind>{TableKind::kToken}) return absl::OkStatus();
  if (request.tables[0] == TableKind::kOutput) {
    return ErrorWithReason(absl::StatusCode::kFailedPrecondition, "NO_SUCH_TABLE",
                           absl::StrCat("model \"", model.name, "\" has no table output"));
  }
  return Invalid("INVALID_OPTION", "output_side has the gradient of the token table, once");
}

absl::Status CheckVectors(const FakeModel& model, const OutputSide& side) {
  const auto count = static_cast<std::int64_t>(side.target_ids.size());
  if (side.hidden.data_type != DataType::kFloat32)
    return Invalid("INVALID_OPTION", "output_side.hidden is not FLOAT32");
  const auto elements = side.target_ids.size() * static_cast<std::size_t>(model.embedding_dim);
  if (side.target_ids.empty() || side.target_ids.size() > kMostVectors ||
      side.hidden.shape != std::vector<std::int64_t>{count, model.embedding_dim} ||
      side.hidden.bytes.size() != elements * sizeof(float)) {
    return Invalid("INVALID_SHAPE", absl::StrCat("output_side.hidden is not (", count, ", ", model.embedding_dim,
                                                 "), or has no vector or more than ", kMostVectors));
  }
  for (std::size_t n = 0; n < side.target_ids.size(); ++n) {
    const std::int64_t id = side.target_ids[n];
    if (id >= 0 && id < VocabSize(model)) continue;
    return Invalid("ID_OUT_OF_RANGE",
                   absl::StrCat("output_side.target_ids[", n, "] = ", id, " is outside [0, ", VocabSize(model), ")"));
  }
  return absl::OkStatus();
}

// softmax(table . vector)
std::vector<double> Probabilities(const FakeModel& model, const float* vector) {
  const auto dim = static_cast<std::size_t>(model.embedding_dim);
  std::vector<double> result;
  double largest = -HUGE_VAL;
  for (std::size_t first = 0; first + dim <= model.token.size(); first += dim) {
    double score = 0;
    for (std::size_t d = 0; d < dim; ++d) score += double{model.token[first + d]} * double{vector[d]};
    result.push_back(score);
    largest = std::fmax(largest, score);
  }
  double sum = 0;
  for (const double score : result) sum += std::exp(score - largest);
  for (double& score : result) score = std::exp(score - largest) / sum;
  return result;
}

}  // namespace

absl::StatusOr<Gradients> FindOutputSideGradient(const FakeModel& model, const GradientRequest& request) {
  if (absl::Status status = CheckRequest(model, request); !status.ok()) return status;
  const OutputSide& side = *request.output_side;
  if (absl::Status status = CheckVectors(model, side); !status.ok()) return status;
  const auto dim = static_cast<std::size_t>(model.embedding_dim);
  const auto rows = static_cast<std::size_t>(VocabSize(model));
  const auto count = static_cast<double>(side.target_ids.size());
  const std::vector<float> hidden = Widen(side.hidden);
  std::vector<double> gradient(rows * dim);
  double loss = 0;
  for (std::size_t n = 0; n < side.target_ids.size(); ++n) {
    std::vector<double> errors = Probabilities(model, hidden.data() + n * dim);
    double& of_target = errors[static_cast<std::size_t>(side.target_ids[n])];
    loss -= std::log(of_target) / count;
    of_target -= 1;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] += errors[i / dim] * double{hidden[n * dim + i % dim]} / count;
    }
  }
  TableGradient table = {
      .table = TableKind::kToken, .trainable = true, .table_rows = VocabSize(model), .touched_rows = VocabSize(model)};
  for (std::size_t first = 0; first < gradient.size(); first += dim) {
    double squares = 0;
    for (std::size_t d = 0; d < dim; ++d) squares += gradient[first + d] * gradient[first + d];
    table.row_norms.push_back(std::sqrt(squares));
  }
  return Gradients{.model = model.name, .model_version = model.version, .tables = {std::move(table)}, .loss = loss};
}

}  // namespace embd::client::fake

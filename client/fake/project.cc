#include "client/fake/project.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/fake/lookup.h"
#include "client/fake/product.h"
#include "client/fake/refusal.h"
#include "client/fake/widen.h"
#include "embd/client/enums.h"
#include "embd/client/error.h"

namespace embd::client::fake {
namespace {

constexpr std::int64_t kMaxVectors = 1024;
constexpr std::int64_t kMaxTopK = 1024;
constexpr std::size_t kMaxCandidates = 65536;

absl::Status FailedPrecondition(absl::string_view reason, absl::string_view message) {
  return ErrorWithReason(absl::StatusCode::kFailedPrecondition, reason, message);
}

bool IsPositive(const std::optional<double>& value) { return !value || (std::isfinite(*value) && *value > 0); }

absl::Status CheckOptions(const FakeModel& model, const ProjectRequest& request) {
  if (request.with_tokens && model.vocabulary.empty()) {
    return FailedPrecondition("NO_VOCABULARY", absl::StrCat("model \"", model.name, "\" has no vocabulary"));
  }
  if (!model.output_tied && !request.raw_scores) {
    return FailedPrecondition("NOT_TIED", absl::StrCat("model \"", model.name, "\" is not tied"));
  }
  if (request.raw_scores && (request.scale || request.softcap)) {
    return Invalid("INVALID_OPTION", "raw_scores excludes scale and softcap");
  }
  if (!IsPositive(request.scale) || !IsPositive(request.softcap)) {
    return Invalid("INVALID_OPTION", "scale and softcap must be finite numbers > 0");
  }
  if (request.top_k < 0 || request.top_k > std::min(kMaxTopK, VocabSize(model))) {
    return Invalid("INVALID_OPTION", absl::StrCat("top_k = ", request.top_k, " is outside its range"));
  }
  return absl::OkStatus();
}

absl::Status CheckCandidates(const FakeModel& model, const ProjectRequest& request) {
  if (request.candidate_ids.empty()) return absl::OkStatus();
  if (request.top_k != 0 || request.candidate_ids.size() > kMaxCandidates) {
    return Invalid("INVALID_OPTION", "candidate_ids go without top_k, and are at most 65536");
  }
  for (std::size_t i = 0; i < request.candidate_ids.size(); ++i) {
    const std::int64_t id = request.candidate_ids[i];
    if (id >= 0 && id < VocabSize(model)) continue;
    return Invalid("ID_OUT_OF_RANGE",
                   absl::StrCat("candidate_ids[", i, "] = ", id, " is outside [0, ", VocabSize(model), ")"));
  }
  return absl::OkStatus();
}

absl::Status CheckVectors(const FakeModel& model, const InputTensor& vectors) {
  switch (vectors.data_type) {
    case DataType::kFloat32:
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kFloat64: break;
    default: return Invalid("INVALID_OPTION", "vectors are of no float type");
  }
  const std::size_t rank = vectors.shape.size();
  const std::int64_t count = rank == 2 ? vectors.shape[0] : 1;
  const bool fits =
      (rank == 1 || rank == 2) && vectors.shape.back() == model.embedding_dim && count >= 1 && count <= kMaxVectors;
  const auto size = Product({count, model.embedding_dim, DataTypeSize(vectors.data_type)});
  if (fits && size == static_cast<std::int64_t>(vectors.bytes.size())) return absl::OkStatus();
  return Invalid("INVALID_SHAPE", absl::StrCat("vectors must be (N, ", model.embedding_dim, ")"));
}

// How dot products become scores for one request.
struct Formula {
  double scale = 1;
  std::span<const float> bias;
  std::optional<double> softcap;
};

Formula FormulaOf(const FakeModel& model, const ProjectRequest& request) {
  if (request.raw_scores) return {};
  return {.scale = request.scale.value_or(model.output_scale),
          .bias = model.output_bias,
          .softcap = request.softcap ? request.softcap : model.output_softcap};
}

std::vector<double> ScoreRows(const FakeModel& model, std::span<const float> vector, const Formula& formula) {
  std::vector<double> scores;
  for (std::size_t row = 0; (row + 1) * vector.size() <= model.token.size(); ++row) {
    double dot = 0;
    for (std::size_t d = 0; d < vector.size(); ++d) {
      dot += double{vector[d]} * double{model.token[row * vector.size() + d]};
    }
    const double score = formula.scale * dot + (row < formula.bias.size() ? double{formula.bias[row]} : 0.0);
    scores.push_back(formula.softcap ? *formula.softcap * std::tanh(score / *formula.softcap) : score);
  }
  return scores;
}

double LogSumExp(const std::vector<double>& scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - largest);
  return largest + std::log(sum);
}

// The best first; of equal scores the lower id; NaN last.
std::vector<std::int64_t> BestIds(const std::vector<double>& scores, std::int64_t count) {
  std::vector<std::int64_t> ids(scores.size());
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  std::stable_sort(ids.begin(), ids.end(), [&scores](std::int64_t a, std::int64_t b) {
    const double left = scores[static_cast<std::size_t>(a)];
    const double right = scores[static_cast<std::size_t>(b)];
    return left > right || (std::isnan(right) && !std::isnan(left));
  });
  ids.resize(static_cast<std::size_t>(count));
  return ids;
}

}  // namespace

absl::StatusOr<Projection> Project(const FakeModel& model, const ProjectRequest& request) {
  if (absl::Status status = CheckOptions(model, request); !status.ok()) return status;
  if (absl::Status status = CheckCandidates(model, request); !status.ok()) return status;
  if (absl::Status status = CheckVectors(model, request.vectors); !status.ok()) return status;
  const Formula formula = FormulaOf(model, request);
  const std::vector<float> vectors = Widen(request.vectors);
  const auto dim = static_cast<std::size_t>(model.embedding_dim);
  const std::int64_t top_k = request.top_k == 0 ? std::min<std::int64_t>(10, VocabSize(model)) : request.top_k;
  Projection result = {.model = model.name, .model_version = model.version, .tied = model.output_tied};
  result.k = request.candidate_ids.empty() ? top_k : static_cast<std::int64_t>(request.candidate_ids.size());
  for (std::size_t first = 0; first < vectors.size(); first += dim) {
    const std::vector<double> scores = ScoreRows(model, std::span(vectors).subspan(first, dim), formula);
    const double log_sum = request.log_probabilities ? LogSumExp(scores) : 0.0;
    for (const std::int64_t id : request.candidate_ids.empty() ? BestIds(scores, top_k) : request.candidate_ids) {
      result.ids.push_back(id);
      result.scores.push_back(static_cast<float>(scores[static_cast<std::size_t>(id)] - log_sum));
      if (request.with_tokens) result.tokens.push_back(model.vocabulary[static_cast<std::size_t>(id)]);
    }
    if (request.log_probabilities) result.log_sum_exp.push_back(static_cast<float>(log_sum));
  }
  return result;
}

}  // namespace embd::client::fake

#include "server/core/diagnostics/projection.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "server/core/diagnostics/fixed_order_dot.h"
#include "server/core/diagnostics/log_sum_exp.h"
#include "server/core/diagnostics/portable_exp.h"
#include "server/core/diagnostics/row_search.h"
#include "server/core/tensor/decode.h"

namespace embd::core {
namespace {

constexpr std::int64_t kCandidatesAtOnce = 64;

double Capped(double score, const std::optional<double>& softcap) {
  return softcap.has_value() ? *softcap * PortableTanh(score / *softcap) : score;
}

// What scores of all rows are summed up to, for one vector after the other. Pieces are summed by themselves, so that it
// makes no difference which is done first.
class Sums {
 public:
  Sums(std::int64_t pieces, std::size_t vectors, const std::optional<double>& softcap)
      : vectors_(vectors), softcap_(softcap), sums_(static_cast<std::size_t>(pieces) * vectors) {}

  void Add(const ScoreBlock& block) {
    LogSumExp& sum = sums_[static_cast<std::size_t>(block.piece) * vectors_ + static_cast<std::size_t>(block.query)];
    std::array<double, 256> scores = {};
    for (std::size_t first = 0; first < block.scores.size(); first += scores.size()) {
      const auto part = block.scores.subspan(first, std::min(scores.size(), block.scores.size() - first));
      std::transform(part.begin(), part.end(), scores.begin(),
                     [this](float score) { return Capped(static_cast<double>(score), softcap_); });
      sum.Add(std::span(scores).first(part.size()));
    }
  }

  [[nodiscard]] double Of(std::size_t vector) const {
    LogSumExp total;
    for (std::size_t i = vector; i < sums_.size(); i += vectors_) total.Add(sums_[i]);
    return total.Value();
  }

 private:
  const std::size_t vectors_;
  const std::optional<double> softcap_;
  std::vector<LogSumExp> sums_;  // (pieces, vectors)
};

// One projection. Scores are doubles until all is known that goes into them.
class Projector {
 public:
  Projector(const Table& table, const ProjectionInput& input)
      : table_(table),
        input_(input),
        dim_(static_cast<std::size_t>(table.dim())),
        vector_count_(input.vectors.size() / dim_),
        k_(input.candidates.empty() ? static_cast<std::size_t>(input.top_k) : input.candidates.size()),
        scores_(vector_count_ * k_) {
    result_.ids.resize(scores_.size());
  }

  absl::Status Search(ShareOut share) {
    Sums sums(input_.log_probabilities ? SearchPieces(table_) : 0, vector_count_, input_.softcap);
    ScoreVisitor visit;
    if (input_.log_probabilities) visit = [&sums](const ScoreBlock& block) { sums.Add(block); };
    const auto found = SearchRows(table_,
                                  {.queries = input_.vectors,
                                   .score = RowScore::kDot,
                                   .top_k = input_.candidates.empty() ? input_.top_k : 1,
                                   .scale = input_.scale,
                                   .bias = input_.bias,
                                   .left_out = {}},
                                  share, visit);
    if (!found.ok()) return found.status();
    for (std::size_t v = 0; v < vector_count_ && input_.log_probabilities; ++v) log_sums_.push_back(sums.Of(v));
    if (!input_.candidates.empty()) return absl::OkStatus();
    for (std::size_t v = 0; v < vector_count_; ++v) {
      for (std::size_t i = 0; i < k_; ++i) {
        result_.ids[v * k_ + i] = (*found)[v][i].row;
        scores_[v * k_ + i] = (*found)[v][i].score;
      }
    }
    return absl::OkStatus();
  }

  absl::Status ScoreCandidates(ShareOut share) {
    std::vector<double> vectors(input_.vectors.begin(), input_.vectors.end());
    const auto count = static_cast<std::int64_t>(k_);
    return share((count - 1) / kCandidatesAtOnce + 1, [&](std::int64_t piece) {
      std::vector<double> row(dim_);
      const std::int64_t end = std::min((piece + 1) * kCandidatesAtOnce, count);
      for (std::int64_t i = piece * kCandidatesAtOnce; i < end; ++i) {
        ScoreCandidate(static_cast<std::size_t>(i), vectors, row);
      }
    });
  }

  Projection Take() && {
    result_.scores.reserve(scores_.size());
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      const double score = Capped(scores_[i], input_.softcap);
      result_.scores.push_back(static_cast<float>(log_sums_.empty() ? score : score - log_sums_[i / k_]));
    }
    result_.log_sum_exp.assign(log_sums_.begin(), log_sums_.end());
    return std::move(result_);
  }

 private:
  void ScoreCandidate(std::size_t index, std::span<const double> vectors, std::span<double> row) {
    const std::int64_t id = input_.candidates[index];
    DecodeToDouble(table_.row(id), table_.element_type(), row);
    const double bias = input_.bias.empty() ? 0.0 : static_cast<double>(input_.bias[static_cast<std::size_t>(id)]);
    for (std::size_t v = 0; v < vector_count_; ++v) {
      result_.ids[v * k_ + index] = id;
      scores_[v * k_ + index] = input_.scale * FixedOrderDot(row, vectors.subspan(v * dim_, dim_)) + bias;
    }
  }

  const Table& table_;
  const ProjectionInput& input_;
  const std::size_t dim_;
  const std::size_t vector_count_;
  const std::size_t k_;
  std::vector<double> scores_;    // (N, k), before the softcap
  std::vector<double> log_sums_;  // (N), with log_probabilities
  Projection result_;
};

}  // namespace

absl::StatusOr<Projection> Project(const Table& table, const ProjectionInput& input, ShareOut share) {
  Projector projector(table, input);
  if (input.candidates.empty() || input.log_probabilities) {
    if (absl::Status status = projector.Search(share); !status.ok()) return status;
  }
  if (!input.candidates.empty()) {
    if (absl::Status status = projector.ScoreCandidates(share); !status.ok()) return status;
  }
  return std::move(projector).Take();
}

}  // namespace embd::core

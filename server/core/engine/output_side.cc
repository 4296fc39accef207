#include "server/core/engine/output_side.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "server/core/diagnostics/fixed_order_dot.h"
#include "server/core/error.h"
#include "server/core/kernels/weighted_vectors.h"
#include "server/core/tensor/decode.h"
#include "server/core/tensor/first_outside.h"

namespace embd::core {
namespace {

constexpr std::int64_t kRanges = 256;
constexpr std::int64_t kMinRangeRows = 64;

// The logarithm of a sum of exponentials, while it is added up: largest + log(sum).
struct LogSum {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;

  void Add(double value) {
    if (value > largest) {
      sum = sum * std::exp(largest - value) + 1.0;
      largest = value;
    } else {
      sum += std::exp(value - largest);  // NaN stays
    }
  }
  void Add(const LogSum& other) {
    const LogSum& larger = other.largest > largest ? other : *this;
    const LogSum& smaller = &larger == this ? other : *this;
    const double total = larger.sum + smaller.sum * std::exp(smaller.largest - larger.largest);
    *this = {.largest = larger.largest, .sum = total};
  }
  [[nodiscard]] double value() const { return largest + std::log(sum); }
};

absl::Status Check(const Table& table, std::span<const std::int64_t> targets, std::span<const float> hidden) {
  const auto count = static_cast<std::int64_t>(targets.size());
  if (count < 1 || count > kMaxOutputVectors) {
    return InvalidArgument("INVALID_SHAPE", absl::StrCat("output_side.target_ids has ", count,
                                                         " values, allowed are 1 to ", kMaxOutputVectors));
  }
  if (hidden.size() != targets.size() * static_cast<std::size_t>(table.dim())) {
    return InvalidArgument(
        "INVALID_SHAPE", absl::StrCat("output_side.hidden has ", hidden.size(), " elements, but ", count,
                                      " target_ids and embedding_dim ", table.dim(), " ask for ", count * table.dim()));
  }
  const std::size_t i = FirstOutside(targets, static_cast<std::uint64_t>(table.rows()));
  if (i == targets.size()) return absl::OkStatus();
  return InvalidArgument("ID_OUT_OF_RANGE", absl::StrCat("output_side.target_ids[", i, "] = ", targets[i],
                                                         " is outside [0, ", table.rows(), ")"));
}

// Goes over the table twice; rows that one thread takes together are a range.
class OutputSide {
 public:
  OutputSide(const Table& table, std::span<const std::int64_t> targets, std::span<const float> hidden)
      : table_(table),
        targets_(targets),
        hidden_(hidden),
        range_rows_(std::max((table.rows() + kRanges - 1) / kRanges, kMinRangeRows)),
        range_count_((table.rows() + range_rows_ - 1) / range_rows_),
        sums_(static_cast<std::size_t>(range_count_) * targets.size()),
        target_scores_(targets.size()) {}

  absl::StatusOr<OutputSideGradient> Run(ShareOut share) {
    absl::Status status = share(range_count_, [this](std::int64_t range) { AddExponentials(range); });
    if (!status.ok()) return status;
    OutputSideGradient result = {.loss = FindLoss(),
                                 .row_norms = std::vector<double>(static_cast<std::size_t>(table_.rows()))};
    status = share(range_count_, [this, &result](std::int64_t range) { FindNorms(range, &result.row_norms); });
    if (!status.ok()) return status;
    return result;
  }

 private:
  // Calls `visit(row, scores)` with the scores of all vectors for each row of a range.
  template <typename Visit>
  void VisitRange(std::int64_t range, const Visit& visit) const {
    std::vector<double> row(static_cast<std::size_t>(table_.dim())), scores(targets_.size());
    const std::int64_t end = std::min((range + 1) * range_rows_, table_.rows());
    for (std::int64_t v = range * range_rows_; v < end; ++v) {
      DecodeToDouble(table_.row(v), table_.element_type(), row);
      DotEach(row, hidden_.data(), scores);
      visit(v, std::span<double>(scores));
    }
  }

  void AddExponentials(std::int64_t range) {
    LogSum* const sums = sums_.data() + static_cast<std::size_t>(range) * targets_.size();
    VisitRange(range, [&](std::int64_t row, std::span<const double> scores) {
      for (std::size_t n = 0; n < scores.size(); ++n) {
        sums[n].Add(scores[n]);
        if (targets_[n] == row) target_scores_[n] = scores[n];
      }
    });
  }

  double FindLoss() {
    double loss = 0;
    for (std::size_t n = 0; n < targets_.size(); ++n) {
      LogSum sum = sums_[n];
      for (std::size_t i = n + targets_.size(); i < sums_.size(); i += targets_.size()) sum.Add(sums_[i]);
      log_sums_.push_back(sum.value());
      loss += log_sums_[n] - target_scores_[n];
    }
    return loss / static_cast<double>(targets_.size());
  }

  void FindNorms(std::int64_t range, std::vector<double>* norms) const {
    std::vector<double> gradient(static_cast<std::size_t>(table_.dim()));
    VisitRange(range, [&](std::int64_t row, std::span<double> scores) {
      for (std::size_t n = 0; n < scores.size(); ++n) {
        const double probability = std::exp(scores[n] - log_sums_[n]);
        scores[n] = (probability - (targets_[n] == row ? 1.0 : 0.0)) / static_cast<double>(scores.size());
      }
      AddWeighted(scores, hidden_.data(), gradient);
      (*norms)[static_cast<std::size_t>(row)] = std::sqrt(FixedOrderDot(gradient, gradient));
    });
  }

  const Table& table_;
  const std::span<const std::int64_t> targets_;
  const std::span<const float> hidden_;
  const std::int64_t range_rows_;
  const std::int64_t range_count_;
  std::vector<LogSum> sums_;  // range_count_ times one for each vector
  std::vector<double> target_scores_;
  std::vector<double> log_sums_;
};

}  // namespace

absl::StatusOr<OutputSideGradient> GradientOfOutputSide(const Table& table, std::span<const std::int64_t> targets,
                                                        std::span<const float> hidden, ShareOut share) {
  if (absl::Status status = Check(table, targets, hidden); !status.ok()) return status;
  return OutputSide(table, targets, hidden).Run(share);
}

}  // namespace embd::core

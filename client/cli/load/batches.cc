#include "client/cli/load/batches.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/files/number_text.h"

namespace embd::cli {
namespace {

bool ParseExtent(absl::string_view word, std::int64_t* extent) {
  return absl::SimpleAtoi(word, extent) && *extent >= 1 && *extent <= kMostIdsOfABatch;
}

// Numbers that are the same on every machine; the library's distributions are not.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  // In [0, 1).
  double Fraction() { return std::ldexp(static_cast<double>(engine_() >> 11), -53); }

  // In [0, end).
  std::int64_t Below(std::int64_t end) {
    return std::min(end - 1, static_cast<std::int64_t>(Fraction() * static_cast<double>(end)));
  }

 private:
  std::mt19937_64 engine_;
};

// Ids of a distribution over [0, V).
class IdSource {
 public:
  IdSource(IdsDistribution distribution, std::int64_t vocab_size) : vocab_size_(vocab_size) {
    if (distribution != IdsDistribution::kZipf) return;
    cumulative_.reserve(static_cast<std::size_t>(vocab_size));
    double sum = 0;
    for (std::int64_t id = 0; id < vocab_size; ++id) {
      sum += 1.0 / static_cast<double>(id + 1);
      cumulative_.push_back(sum);
    }
  }

  std::int64_t Next(Draw& draw) const {
    if (cumulative_.empty()) return draw.Below(vocab_size_);
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), draw.Fraction() * cumulative_.back());
    return std::min(vocab_size_ - 1, static_cast<std::int64_t>(found - cumulative_.begin()));
  }

 private:
  std::int64_t vocab_size_;
  std::vector<double> cumulative_;  // of kZipf: the sum of the weights up to each id
};

Batch MakeBatch(const BatchPlan& plan, BatchShape shape, std::vector<std::int64_t> ids) {
  Batch batch{.request = plan.request,
              .reply_shape = {shape.batch_size, shape.sequence_length, plan.embedding_dim},
              .rows = shape.ids(),
              .reply_bytes = static_cast<std::size_t>(shape.ids() * plan.embedding_dim *
                                                      client::DataTypeSize(plan.request.output_type))};
  batch.request.batch_size = shape.batch_size;
  batch.request.sequence_length = shape.sequence_length;
  batch.request.ids = std::move(ids);
  return batch;
}

// Every shape once, so that each is seen however few batches there are; then by chance.
BatchShape ShapeAt(const BatchPlan& plan, std::size_t index, Draw& draw) {
  if (index < plan.shapes.size()) return plan.shapes[index];
  return plan.shapes[static_cast<std::size_t>(draw.Below(static_cast<std::int64_t>(plan.shapes.size())))];
}

}  // namespace

absl::StatusOr<std::vector<BatchShape>> ParseShapes(absl::string_view text) {
  std::vector<BatchShape> shapes;
  for (const absl::string_view word : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(word, absl::MaxSplits('x', 1));
    BatchShape shape;
    if (!ParseExtent(parts.first, &shape.batch_size) || !ParseExtent(parts.second, &shape.sequence_length) ||
        shape.ids() > kMostIdsOfABatch) {
      return absl::InvalidArgumentError(absl::StrCat(
          Quoted(word), " is not a shape such as 8x512, rows and ids a row, of 1 to ", kMostIdsOfABatch, " ids"));
    }
    shapes.push_back(shape);
  }
  return shapes;
}

std::vector<Batch> RandomBatches(const BatchPlan& plan) {
  Draw draw(plan.seed);
  const IdSource source(plan.distribution, plan.vocab_size);
  const bool with_ids = plan.request.part != client::Part::kPosition;
  std::vector<Batch> batches;
  std::int64_t ids = 0;
  while (batches.size() < plan.shapes.size() ||
         (static_cast<std::int64_t>(batches.size()) < plan.most_batches && ids < plan.most_ids)) {
    const BatchShape shape = ShapeAt(plan, batches.size(), draw);
    std::vector<std::int64_t> drawn(with_ids ? static_cast<std::size_t>(shape.ids()) : 0);
    for (std::int64_t& id : drawn) id = source.Next(draw);
    ids += shape.ids();
    batches.push_back(MakeBatch(plan, shape, std::move(drawn)));
  }
  return batches;
}

absl::StatusOr<std::vector<Batch>> CutIntoBatches(std::span<const std::int64_t> ids, const BatchPlan& plan) {
  Draw draw(plan.seed);
  std::vector<Batch> batches;
  for (std::span<const std::int64_t> rest = ids;;) {
    const BatchShape shape = ShapeAt(plan, batches.size(), draw);
    const auto count = static_cast<std::size_t>(shape.ids());
    if (rest.size() < count) break;
    batches.push_back(MakeBatch(plan, shape, {rest.begin(), rest.begin() + shape.ids()}));
    rest = rest.subspan(count);
  }
  if (batches.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("holds ", ids.size(), " ids, a batch of ", plan.shapes.front().batch_size, " x ",
                     plan.shapes.front().sequence_length, " takes ", plan.shapes.front().ids()));
  }
  return batches;
}

}  // namespace embd::cli

#include "client/cli/commands/comparison.h"

#include <algorithm>
#include <random>
#include <utility>

#include "embd/client/error.h"

namespace embd::cli {
namespace {

using client::Part;
using client::TableKind;

// The standard fixes what mt19937_64 draws, but not what its distributions make of it.
std::vector<std::int64_t> DrawIds(std::int64_t count, std::int64_t vocab_size, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  for (std::int64_t& id : ids) id = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(vocab_size));
  return ids;
}

client::EmbedRequest RequestFor(const std::string& model, std::int64_t batch_size, std::int64_t sequence_length,
                                std::int64_t vocab_size, std::uint64_t seed) {
  return {.model = model,
          .ids = DrawIds(batch_size * sequence_length, std::max<std::int64_t>(vocab_size, 1), seed),
          .batch_size = batch_size,
          .sequence_length = sequence_length};
}

absl::StatusOr<std::vector<std::int64_t>> ShapeOf(const client::Client& client, client::EmbedRequest request,
                                                  Part part) {
  request.part = part;
  const absl::StatusOr<client::Embedding> embedding = client.Embed(request);
  if (!embedding.ok()) return embedding.status();
  return embedding->shape();
}

absl::Status FindShapes(const client::Client& client, const ComparisonOptions& options, std::int64_t vocab_size,
                        ModelFindings& model) {
  const client::EmbedRequest request =
      RequestFor(model.description.name, options.batch_size, options.sequence_length, vocab_size, options.seed);
  absl::StatusOr<std::vector<std::int64_t>> token = ShapeOf(client, request, Part::kToken);
  if (!token.ok()) return token.status();
  absl::StatusOr<std::vector<std::int64_t>> composed = ShapeOf(client, request, Part::kComposed);
  if (!composed.ok()) return composed.status();
  model.token_shape = *std::move(token);
  model.composed_shape = *std::move(composed);
  return absl::OkStatus();
}

absl::Status FindCurve(const client::Client& client, const ComparisonOptions& options, ModelFindings& model) {
  const client::TableDescription* const table = model.Table(TableKind::kPosition);
  if (table == nullptr || table->shape.empty() || table->shape.front() < 2) return absl::OkStatus();
  absl::StatusOr<client::NeighbourCurve> curve =
      client.NeighbourSimilarity({.model = model.description.name,
                                  .table = TableKind::kPosition,
                                  .max_offset = std::min(options.max_offset, table->shape.front() - 1)});
  if (!curve.ok()) return curve.status();
  model.curve = *std::move(curve);
  return absl::OkStatus();
}

absl::Status TryLengths(const client::Client& client, const ComparisonOptions& options, ModelFindings& model) {
  constexpr std::int64_t kShortTrial = 64;
  constexpr std::int64_t kLongestTrial = 1 << 24;  // beyond any model; bounds what is sent
  if (!model.description.max_context_length) return absl::OkStatus();
  const std::int64_t limit = std::min(*model.description.max_context_length, kLongestTrial);
  std::vector<std::int64_t> lengths = {limit, limit + 1};
  if (kShortTrial < limit) lengths.insert(lengths.begin(), kShortTrial);
  for (const std::int64_t length : lengths) {
    const client::EmbedRequest request =
        RequestFor(model.description.name, 1, length, model.description.vocab_size, options.seed);
    const absl::StatusOr<std::vector<std::int64_t>> shape = ShapeOf(client, request, Part::kComposed);
    LengthTrial trial{.sequence_length = length, .refusal = "", .reason = ""};
    if (!shape.ok()) {
      if (length <= limit || !absl::IsInvalidArgument(shape.status())) return shape.status();
      trial.refusal = std::string(shape.status().message());
      trial.reason = client::ErrorReason(shape.status());
    }
    model.trials.push_back(std::move(trial));
  }
  return absl::OkStatus();
}

}  // namespace

const client::TableDescription* ModelFindings::Table(TableKind kind) const {
  for (const client::TableDescription& table : description.tables) {
    if (table.kind == kind) return &table;
  }
  return nullptr;
}

absl::StatusOr<Comparison> Compare(const client::Client& client, const ComparisonOptions& options) {
  Comparison comparison{.options = options, .models = {}};
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<client::ModelDescription> description = client.DescribeModel({.model = options.models[i]});
    if (!description.ok()) return description.status();
    comparison.models[i].description = *std::move(description);
  }
  const std::int64_t vocab_size =
      std::min(comparison.models[0].description.vocab_size, comparison.models[1].description.vocab_size);
  for (ModelFindings& model : comparison.models) {
    if (absl::Status status = FindShapes(client, options, vocab_size, model); !status.ok()) return status;
    if (absl::Status status = FindCurve(client, options, model); !status.ok()) return status;
    if (absl::Status status = TryLengths(client, options, model); !status.ok()) return status;
  }
  return comparison;
}

}  // namespace embd::cli

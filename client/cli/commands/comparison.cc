#include "client/cli/commands/comparison.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
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

absl::Status NamingFlags(const absl::Status& status, const client::EmbedRequest& request) {
  return client::ErrorWithReason(status.code(), client::ErrorReason(status),
                                 absl::StrCat("with --batch ", request.batch_size, " and --tokens ",
                                              request.sequence_length, ": ", status.message()));
}

absl::Status FindShapes(const client::Client& client, const Comparison& comparison, std::int64_t vocab_size,
                        ModelFindings& model) {
  const client::EmbedRequest request = RequestFor(model.description.name, comparison.options.batch_size,
                                                  comparison.sequence_length, vocab_size, comparison.options.seed);
  absl::StatusOr<std::vector<std::int64_t>> token = ShapeOf(client, request, Part::kToken);
  if (!token.ok()) return NamingFlags(token.status(), request);
  absl::StatusOr<std::vector<std::int64_t>> composed = ShapeOf(client, request, Part::kComposed);
  if (!composed.ok()) return NamingFlags(composed.status(), request);
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

absl::StatusOr<LengthTrial> TryLength(const client::Client& client, const ComparisonOptions& options,
                                      const client::ModelDescription& model, std::int64_t length) {
  LengthTrial trial{.sequence_length = length, .tried = length <= kLongestTrial, .refusal = "", .reason = ""};
  if (!trial.tried) return trial;
  client::EmbedRequest request = RequestFor(model.name, 1, length, model.vocab_size, options.seed);
  request.output_type = client::DataType::kFloat16;  // only the shape is looked at
  const absl::StatusOr<std::vector<std::int64_t>> shape = ShapeOf(client, request, Part::kComposed);
  if (shape.ok()) return trial;
  if (!absl::IsInvalidArgument(shape.status()) && !absl::IsResourceExhausted(shape.status())) return shape.status();
  trial.refusal = std::string(shape.status().message());
  trial.reason = client::ErrorReason(shape.status());
  return trial;
}

absl::Status TryLengths(const client::Client& client, const ComparisonOptions& options, ModelFindings& model) {
  constexpr std::int64_t kShortTrial = 64;
  if (!model.description.max_context_length) return absl::OkStatus();
  const std::int64_t limit = *model.description.max_context_length;
  std::vector<std::int64_t> lengths = {limit, limit + 1};
  if (kShortTrial < limit) lengths.insert(lengths.begin(), kShortTrial);
  for (const std::int64_t length : lengths) {
    absl::StatusOr<LengthTrial> trial = TryLength(client, options, model.description, length);
    if (!trial.ok()) return trial.status();
    model.trials.push_back(*std::move(trial));
  }
  return absl::OkStatus();
}

// Keeps what was answered or refused; other errors are the comparison's.
template <typename T>
absl::Status Take(absl::StatusOr<T> answered, Answer<T>& answer) {
  if (answered.ok()) {
    answer.value = *std::move(answered);
  } else if (absl::IsInvalidArgument(answered.status()) || absl::IsResourceExhausted(answered.status())) {
    answer.refusal = std::string(answered.status().message());
  } else if (!absl::IsUnimplemented(answered.status())) {
    return answered.status();
  }
  return absl::OkStatus();
}

absl::Status LookIntoPositions(const client::Client& client, ModelFindings& model) {
  const client::ModelDescription& description = model.description;
  if (description.position_encoding == client::PositionEncoding::kSinusoidal || description.rotary) {
    absl::Status status = Take(client.PositionWavelengths({.model = description.name}), model.wavelengths);
    if (!status.ok()) return status;
  }
  if (description.max_context_length.value_or(0) < 2) return absl::OkStatus();
  return Take(client.ShiftProperty({.model = description.name}), model.shift);
}

absl::Status LookIntoTables(const client::Client& client, ModelFindings& model) {
  for (const TableKind kind : {TableKind::kToken, TableKind::kPosition}) {
    if (model.Table(kind) == nullptr) continue;
    TableFindings& table = model.tables.emplace_back(TableFindings{.kind = kind, .statistics = {}});
    absl::Status status =
        Take(client.TableStatistics({.model = model.description.name, .table = kind}), table.statistics);
    if (!status.ok()) return status;
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
  Comparison comparison{
      .options = options, .sequence_length = options.sequence_length.value_or(kComparedTokens), .models = {}};
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<client::ModelDescription> description = client.DescribeModel({.model = options.models[i]});
    if (!description.ok()) return description.status();
    comparison.models[i].description = *std::move(description);
    const std::optional<std::int64_t> positions = comparison.models[i].description.max_context_length;
    if (!options.sequence_length && positions) {
      comparison.sequence_length = std::min(comparison.sequence_length, *positions);
    }
  }
  const std::int64_t vocab_size =
      std::min(comparison.models[0].description.vocab_size, comparison.models[1].description.vocab_size);
  for (ModelFindings& model : comparison.models) {
    if (absl::Status status = FindShapes(client, comparison, vocab_size, model); !status.ok()) return status;
    if (absl::Status status = FindCurve(client, options, model); !status.ok()) return status;
    if (absl::Status status = TryLengths(client, options, model); !status.ok()) return status;
    if (absl::Status status = LookIntoPositions(client, model); !status.ok()) return status;
    if (absl::Status status = LookIntoTables(client, model); !status.ok()) return status;
  }
  return comparison;
}

}  // namespace embd::cli

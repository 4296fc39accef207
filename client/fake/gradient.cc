#include "client/fake/gradient.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/fake/compose.h"
#include "client/fake/embed_checks.h"
#include "client/fake/lookup.h"
#include "client/fake/output_side.h"
#include "client/fake/refusal.h"
#include "client/fake/widen.h"

namespace embd::client::fake {
namespace {

bool PartReads(Part part, TableKind kind) {
  switch (kind) {
    case TableKind::kToken: return part != Part::kPosition;
    case TableKind::kPosition: return part != Part::kToken;
    default: return part != Part::kToken && part != Part::kPosition;
  }
}

std::int64_t RowsOfTable(const FakeModel& model, TableKind kind) {
  switch (kind) {
    case TableKind::kToken: return VocabSize(model);
    case TableKind::kPosition: return PositionRows(model);
    case TableKind::kTokenType: return TypeRows(model);
    default: return 0;
  }
}

absl::StatusOr<std::vector<TableKind>> ChooseTables(const FakeModel& model, const GradientRequest& request) {
  std::vector<TableKind> all;
  for (const TableKind kind : {TableKind::kToken, TableKind::kPosition, TableKind::kTokenType}) {
    if (PartReads(request.part, kind) && RowsOfTable(model, kind) > 0) all.push_back(kind);
  }
  if (request.tables.empty()) return all;
  for (const TableKind kind : request.tables) {
    if (kind <= TableKind::kUnspecified || kind > TableKind::kOutput) {
      return Invalid("UNKNOWN_ENUM_VALUE", absl::StrCat("table ", static_cast<int>(kind), " is unknown"));
    }
    const bool twice = std::count(request.tables.begin(), request.tables.end(), kind) > 1;
    if (twice || (kind != TableKind::kOutput && !PartReads(request.part, kind))) {
      return Invalid("INVALID_OPTION", absl::StrCat("table ", TableKindName(kind),
                                                    twice ? " is asked for twice" : " is not read by this part"));
    }
    if (RowsOfTable(model, kind) == 0) {
      return ErrorWithReason(absl::StatusCode::kFailedPrecondition, "NO_SUCH_TABLE",
                             absl::StrCat("model \"", model.name, "\" has no table ", TableKindName(kind)));
    }
  }
  return request.tables;
}

EmbedRequest BatchOf(const GradientRequest& request) {
  return {.model = request.model,
          .ids = request.ids,
          .batch_size = request.batch_size,
          .sequence_length = request.sequence_length,
          .part = request.part,
          .position_offsets = request.position_offsets,
          .position_ids = request.position_ids,
          .token_type_ids = request.token_type_ids,
          .row_lengths = request.row_lengths,
          .attention_mask = request.attention_mask,
          .ragged_layout = request.row_lengths.empty() ? RaggedLayout::kUnspecified : RaggedLayout::kPacked};
}

absl::StatusOr<std::vector<float>> OutputGradient(const FakeModel& model, const GradientRequest& request,
                                                  const Batch& batch) {
  if (!request.output_gradient.has_value()) return Invalid("INVALID_SHAPE", "output_gradient is missing");
  const InputTensor& tensor = *request.output_gradient;
  if (tensor.data_type != DataType::kFloat32) return Invalid("INVALID_OPTION", "output_gradient is not FLOAT32");
  const auto elements = static_cast<std::size_t>(batch.cells * model.embedding_dim);
  if (tensor.shape != batch.ReplyShape(model.embedding_dim) || tensor.bytes.size() != elements * sizeof(float)) {
    return Invalid("INVALID_SHAPE", "output_gradient has another shape than the output");
  }
  return Widen(tensor);
}

// The gradient of the sums that go into LayerNorm, in place of that of its results.
void GoBackThroughLayerNorm(const FakeModel& model, const std::vector<float>& sums, std::vector<float>* gradient) {
  const auto dim = static_cast<std::size_t>(model.embedding_dim);
  const auto count = static_cast<double>(dim);
  for (std::size_t first = 0; first < sums.size(); first += dim) {
    double mean = 0;
    for (std::size_t d = 0; d < dim; ++d) mean += double{sums[first + d]} / count;
    double variance = 0;
    for (std::size_t d = 0; d < dim; ++d) variance += std::pow(double{sums[first + d]} - mean, 2) / count;
    const double factor = 1 / std::sqrt(variance + model.layer_norm_eps);
    double weighted = 0;
    double slope = 0;
    for (std::size_t d = 0; d < dim; ++d) {
      const double part = double{(*gradient)[first + d]} * double{model.layer_norm_weight[d]} / count;
      weighted += part;
      slope += part * (double{sums[first + d]} - mean) * factor;
    }
    for (std::size_t d = 0; d < dim; ++d) {
      const double normal = (double{sums[first + d]} - mean) * factor;
      const double own = double{(*gradient)[first + d]} * double{model.layer_norm_weight[d]};
      (*gradient)[first + d] = static_cast<float>(factor * (own - weighted - normal * slope));
    }
  }
}

// The row that a cell adds, or -1 where its table learns nothing from it.
std::int64_t RowOf(const FakeModel& model, const GradientRequest& request, const CheckedRequest& checked,
                   TableKind kind, std::size_t cell) {
  std::int64_t row = 0;
  std::int64_t padding = model.padding_idx.value_or(-1);
  if (kind == TableKind::kToken) {
    row = request.ids[cell];
  } else if (kind == TableKind::kPosition) {
    row = checked.position_rows[cell];
    padding = model.numbering == PositionNumbering::kPadding ? padding + model.row_offset : -1;
  } else {
    row = request.token_type_ids.empty() ? 0 : request.token_type_ids[cell];
    padding = -1;
  }
  return row == padding ? -1 : row;
}

struct Row {
  std::int64_t count = 0;
  std::vector<float> sum;
};

TableGradient ToGradient(const std::map<std::int64_t, Row>& rows, std::int64_t dim) {
  TableGradient result = {.trainable = true, .touched_rows = static_cast<std::int64_t>(rows.size())};
  result.rows = {.data_type = DataType::kFloat32, .shape = {result.touched_rows, dim}};
  for (const auto& [id, row] : rows) {
    double squares = 0;
    for (const float value : row.sum) squares += double{value} * double{value};
    result.row_ids.push_back(id);
    result.counts.push_back(row.count);
    result.row_norms.push_back(std::sqrt(squares));
    result.rows.data.append(reinterpret_cast<const char*>(row.sum.data()), row.sum.size() * sizeof(float));
  }
  return result;
}

TableGradient AddUp(const FakeModel& model, const GradientRequest& request, const CheckedRequest& checked,
                    TableKind kind, const std::vector<float>& gradient) {
  if (kind == TableKind::kPosition && model.position_encoding == PositionEncoding::kSinusoidal) return {};
  const auto dim = static_cast<std::size_t>(model.embedding_dim);
  const float scale = kind == TableKind::kToken ? model.token_scale : 1.0f;
  std::map<std::int64_t, Row> rows;
  for (std::size_t cell = 0; cell * dim < gradient.size(); ++cell) {
    const std::int64_t id = RowOf(model, request, checked, kind, cell);
    if (id < 0) continue;
    Row& row = rows[id];
    ++row.count;
    row.sum.resize(dim);
    for (std::size_t d = 0; d < dim; ++d) row.sum[d] += gradient[cell * dim + d] * scale;
  }
  return ToGradient(rows, model.embedding_dim);
}

}  // namespace

absl::StatusOr<Gradients> FindGradients(const FakeModel& model, const GradientRequest& request,
                                        const ServerLimits& limits) {
  if (request.output_side.has_value()) return FindOutputSideGradient(model, request);
  const auto tables = ChooseTables(model, request);
  if (!tables.ok()) return tables.status();
  const EmbedRequest embed = BatchOf(request);
  ServerLimits of_batch = limits;
  of_batch.max_response_bytes = 0;
  const auto checked = CheckEmbed(model, embed, of_batch);
  if (!checked.ok()) return checked.status();
  auto gradient = OutputGradient(model, request, checked->batch);
  if (!gradient.ok()) return gradient.status();
  if (HasLayerNorm(model) && request.part != Part::kToken && request.part != Part::kPosition) {
    FakeModel without = model;
    without.layer_norm_weight.clear();
    GoBackThroughLayerNorm(model, Compose(without, embed, *checked), &*gradient);
  }
  Gradients result = {.model = model.name, .model_version = model.version};
  for (const TableKind kind : *tables) {
    result.tables.push_back(AddUp(model, request, *checked, kind, *gradient));
    result.tables.back().table = kind;
    result.tables.back().table_rows = RowsOfTable(model, kind);
  }
  return result;
}

}  // namespace embd::client::fake

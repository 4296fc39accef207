#include "client/cli/commands/plot_figure.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "embd/client/error.h"

namespace embd::cli {
namespace {

using plot::Series;
using plot::SeriesStyle;

constexpr std::int64_t kPlottedPositions = 128;  // unless said

// "position", but "token type" for "token_type".
std::string SpokenName(client::TableKind kind) {
  std::string name(client::TableKindName(kind));
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

absl::Status CheckColumns(std::int64_t columns) {
  if (columns <= kMaxPlottedColumns) return absl::OkStatus();
  return client::ErrorWithReason(
      absl::StatusCode::kInvalidArgument, "INVALID_OPTION",
      absl::StrCat("a table of ", columns, " columns is not drawn; at most ", kMaxPlottedColumns, " are"));
}

std::vector<double> Numbers(std::size_t count, double first) {
  std::vector<double> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

absl::StatusOr<plot::Figure> TableRows(const client::Client& client, const client::ModelDescription& model,
                                       std::int64_t rows) {
  if (absl::Status status = CheckColumns(model.embedding_dim); !status.ok()) return status;
  const auto embedding =
      client.Embed({.model = model.name, .batch_size = 1, .sequence_length = rows, .part = client::Part::kPosition});
  if (!embedding.ok()) return embedding.status();
  const auto values = embedding->As<float>();
  if (!values.ok()) return values.status();
  return plot::HeatMap{.title = absl::StrCat("Positions of ", model.name, ", (", rows, ", ", model.embedding_dim, ")"),
                       .x_label = "column",
                       .y_label = "position",
                       .value_label = "value",
                       .columns = model.embedding_dim,
                       .values = {values->begin(), values->end()}};
}

// Cosine and sine of a pair side by side.
absl::StatusOr<plot::Figure> RotaryRows(const client::Client& client, const std::string& model, std::int64_t rows) {
  const auto table = client.RotaryTable({.model = model, .length = rows});
  if (!table.ok()) return table.status();
  const std::int64_t columns = 2 * table->pairs();
  if (absl::Status status = CheckColumns(columns); !status.ok()) return status;
  std::vector<float> values;
  values.reserve(2 * table->cos().size());
  for (std::size_t i = 0; i < table->cos().size(); ++i) {
    values.push_back(table->cos()[i]);
    values.push_back(table->sin()[i]);
  }
  return plot::HeatMap{.title = absl::StrCat("Rotary cosines and sines of ", model, ", (", rows, ", ", columns, ")"),
                       .x_label = "column 2i: cosine of pair i, column 2i + 1: its sine",
                       .y_label = "position",
                       .value_label = "value",
                       .columns = columns,
                       .values = std::move(values)};
}

absl::StatusOr<plot::Figure> Positions(const client::Client& client, const PlotRequest& request) {
  const auto model = client.DescribeModel({.model = request.models.front()});
  if (!model.ok()) return model.status();
  if (model->position_encoding == client::PositionEncoding::kRotary) {
    return RotaryRows(client, model->name, request.rows.value_or(kPlottedPositions));
  }
  const std::int64_t all = model->max_context_length.value_or(kPlottedPositions);
  return TableRows(client, *model, request.rows.value_or(std::min(all, kPlottedPositions)));
}

absl::StatusOr<plot::Figure> Similarity(const client::Client& client, const PlotRequest& request) {
  plot::LineChart chart = {.x_label = "offset k, in rows", .y_label = "mean cosine of rows p and p + k"};
  for (const std::string& model : request.models) {
    const auto curve =
        client.NeighbourSimilarity({.model = model, .table = request.table, .max_offset = request.max_offset});
    if (!curve.ok()) return curve.status();
    chart.title = absl::StrCat("How alike rows k apart are, ", SpokenName(curve->table), " table",
                               request.models.size() > 1 ? "s" : "");
    const std::vector<double> offsets = Numbers(curve->mean_cosine.size(), 1);
    chart.series.push_back({.name = model, .x = offsets, .y = curve->mean_cosine});
    if (curve->closed_form.size() == offsets.size()) {
      chart.series.push_back({.name = absl::StrCat(model, ", formula"),
                              .x = offsets,
                              .y = curve->closed_form,
                              .style = SeriesStyle::kFormula});
    }
  }
  return chart;
}

// The series of one answer, and by length the models that have so many positions.
absl::Status AddBands(const client::Client& client, const client::PositionWavelengthsRequest& request,
                      plot::LineChart& chart, std::map<std::int64_t, std::vector<std::string>>& lengths) {
  const auto bands = client.PositionWavelengths(request);
  if (!bands.ok()) return bands.status();
  std::string name = absl::StrCat("D ", bands->dim, ", base ", bands->base);
  if (!request.model.empty()) name = absl::StrCat(request.model, " (", name, ")");
  if (bands->max_context_length) lengths[*bands->max_context_length].push_back(request.model);
  chart.series.push_back(
      {.name = std::move(name), .x = Numbers(bands->wavelengths.size(), 0), .y = bands->wavelengths});
  return absl::OkStatus();
}

absl::StatusOr<plot::Figure> Wavelengths(const client::Client& client, const PlotRequest& request) {
  plot::LineChart chart = {.title = "How many positions each band takes for a turn",
                           .x_label = "band i, a pair of columns",
                           .y_label = "wavelength, in positions",
                           .logarithmic = true};
  std::map<std::int64_t, std::vector<std::string>> lengths;
  for (const std::string& model : request.models) {
    if (absl::Status status = AddBands(client, {.model = model}, chart, lengths); !status.ok()) return status;
  }
  for (const std::int64_t dim : request.dims) {
    const client::SinusoidalFormula formula = {.embedding_dim = dim, .base = request.base};
    if (absl::Status status = AddBands(client, {.sinusoidal = formula}, chart, lengths); !status.ok()) return status;
  }
  double last_band = 1;
  for (const Series& series : chart.series) last_band = std::max(last_band, static_cast<double>(series.x.size()) - 1);
  for (const auto& [length, models] : lengths) {
    chart.series.push_back({.name = absl::StrCat(length, " positions, all of ", absl::StrJoin(models, ", ")),
                            .x = {0, last_band},
                            .y = std::vector<double>(2, static_cast<double>(length)),
                            .style = SeriesStyle::kReference});
  }
  return chart;
}

absl::StatusOr<plot::Figure> Norms(const client::Client& client, const PlotRequest& request) {
  const auto statistics =
      client.TableStatistics({.model = request.models.front(), .table = request.table, .histogram_bins = request.bins});
  if (!statistics.ok()) return statistics.status();
  if (statistics->histogram_counts.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("no row of the ", SpokenName(statistics->table), " table of \"",
                                                      statistics->model, "\" is finite throughout: no norm to draw"));
  }
  return plot::Histogram{.title = absl::StrCat("Norms of the ", statistics->rows, " rows of ", request.models.front(),
                                               ", ", SpokenName(statistics->table), " table"),
                         .x_label = "Euclidean norm of a row",
                         .y_label = "rows",
                         .edges = statistics->histogram_edges,
                         .counts = statistics->histogram_counts};
}

absl::StatusOr<plot::Figure> Matrix(const client::Client& client, const PlotRequest& request) {
  auto matrix = client.CosineSimilarities(
      {.model = request.models.front(), .table = request.table, .row_count = request.rows.value_or(0)});
  if (!matrix.ok()) return matrix.status();
  const std::string table = SpokenName(matrix->table);
  return plot::HeatMap{.title = absl::StrCat("Cosines of ", matrix->row_ids.size(), " rows of ", request.models.front(),
                                             ", ", table, " table"),
                       .x_label = absl::StrCat("row of the ", table, " table"),
                       .y_label = absl::StrCat("row of the ", table, " table"),
                       .value_label = "cosine",
                       .columns = static_cast<std::int64_t>(matrix->row_ids.size()),
                       .values = std::move(matrix->cosines),
                       .square = true};
}

}  // namespace

absl::StatusOr<plot::Figure> FindFigure(const client::Client& client, const PlotRequest& request) {
  switch (request.subject) {
    case PlotSubject::kPositions: return Positions(client, request);
    case PlotSubject::kSimilarity: return Similarity(client, request);
    case PlotSubject::kWavelengths: return Wavelengths(client, request);
    case PlotSubject::kNorms: return Norms(client, request);
    case PlotSubject::kMatrix: return Matrix(client, request);
  }
  return absl::InternalError("no such subject");
}

}  // namespace embd::cli

#include "client/cli/plot/layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "client/cli/plot/frame.h"

namespace embd::cli::plot {
namespace {

constexpr std::array<MarkerShape, kMaxSeries> kMarkers = {
    MarkerShape::kCircle, MarkerShape::kSquare, MarkerShape::kTriangle,    MarkerShape::kDiamond,
    MarkerShape::kCross,  MarkerShape::kPlus,   MarkerShape::kTriangleDown};

// `number` counts the series of the same style.
LineLook LookOf(SeriesStyle style, std::size_t number) {
  const double longer = static_cast<double>(number);
  if (style == SeriesStyle::kFormula) return {.colour = kBlack, .width = 1.2, .dashes = {6 + 3 * longer, 4}};
  if (style == SeriesStyle::kReference) return {.colour = 0x666666, .width = 1.2, .dashes = {1.5, 3 + 2 * longer}};
  const std::size_t i = number % kMaxSeries;
  return {.colour = kSeriesColours[i], .width = 1.8, .dashes = {}, .marker = kMarkers[i]};
}

std::vector<LegendEntry> LegendOf(const LineChart& chart) {
  std::array<std::size_t, 3> numbers{};
  std::vector<LegendEntry> legend;
  for (const Series& series : chart.series) {
    const std::size_t number = numbers[static_cast<std::size_t>(series.style)]++;
    legend.push_back({.name = series.name, .look = LookOf(series.style, number)});
  }
  return legend;
}

// Lines through neighbouring points that are there; a point between gaps shows by its marker.
void PutSeries(const Series& series, const LineLook& look, Frame& frame) {
  constexpr std::size_t kMostMarkers = 33;
  const std::size_t count = std::min(series.x.size(), series.y.size());
  const std::size_t stride = std::max<std::size_t>(1, (count + kMostMarkers - 1) / kMostMarkers);
  const bool positive_only = frame.y.scale == Axis::Scale::kLogarithmic;
  std::vector<Marker> markers;
  Stroke line = {.points = {}, .colour = look.colour, .width = look.width, .dashes = look.dashes};
  const auto end_line = [&] {
    if (line.points.size() > 1) frame.scene.items.emplace_back(line);
    line.points.clear();
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(series.y[i]) || (positive_only && series.y[i] <= 0)) {
      end_line();
      continue;
    }
    const Point at = frame.At(series.x[i], series.y[i]);
    line.points.push_back(at);
    if (look.marker && i % stride == 0) markers.push_back({.at = at, .shape = *look.marker, .colour = look.colour});
  }
  end_line();
  frame.scene.items.insert(frame.scene.items.end(), markers.begin(), markers.end());
}

absl::StatusOr<Scene> LayOutChart(const LineChart& chart, double width, double height, const MeasureText& measure) {
  std::vector<double> x;
  std::vector<double> y;
  for (const Series& series : chart.series) {
    x.insert(x.end(), series.x.begin(), series.x.end());
    y.insert(y.end(), series.y.begin(), series.y.end());
  }
  const auto [first, last] = std::minmax_element(x.begin(), x.end());
  Axis x_axis = x.empty() ? ExactAxis(chart.x_label, Axis::Scale::kWhole, 0, 1)
                          : ExactAxis(chart.x_label, Axis::Scale::kWhole, *first, *last);
  const double margin = (x_axis.high - x_axis.low) / 50;  // markers stay off the axis
  x_axis.low -= margin;
  x_axis.high += margin;
  const Axis::Scale scale = chart.logarithmic ? Axis::Scale::kLogarithmic : Axis::Scale::kLinear;
  const std::vector<LegendEntry> legend = LegendOf(chart);
  absl::StatusOr<Frame> frame = LayOutFrame(
      {.title = chart.title, .legend = legend, .x = std::move(x_axis), .y = RoundAxis(chart.y_label, scale, y)}, width,
      height, measure);
  if (!frame.ok()) return frame.status();
  for (std::size_t i = 0; i < chart.series.size(); ++i) PutSeries(chart.series[i], legend[i].look, *frame);
  return std::move(frame->scene);
}

absl::StatusOr<Scene> LayOutChart(const Histogram& chart, double width, double height, const MeasureText& measure) {
  std::vector<double> heights = {0};
  heights.insert(heights.end(), chart.counts.begin(), chart.counts.end());
  const double low = chart.edges.empty() ? 0 : chart.edges.front();
  const double high = chart.edges.empty() ? 1 : chart.edges.back();
  absl::StatusOr<Frame> frame = LayOutFrame({.title = chart.title,
                                             .x = ExactAxis(chart.x_label, Axis::Scale::kLinear, low, high),
                                             .y = RoundAxis(chart.y_label, Axis::Scale::kWhole, heights)},
                                            width, height, measure);
  if (!frame.ok()) return frame.status();
  constexpr double kGapBetween = 1;
  constexpr double kLeastWidth = 2;
  for (std::size_t i = 0; i < chart.counts.size() && i + 1 < chart.edges.size(); ++i) {
    if (chart.counts[i] == 0) continue;
    const Point corner = frame->At(chart.edges[i], static_cast<double>(chart.counts[i]));
    const Point base = frame->At(chart.edges[i + 1], 0);
    frame->scene.items.emplace_back(Fill{.box = {.left = corner.x,
                                                 .top = corner.y,
                                                 .width = std::max(base.x - corner.x - kGapBetween, kLeastWidth),
                                                 .height = base.y - corner.y},
                                         .colour = kSeriesColours.front()});
  }
  return std::move(frame->scene);
}

absl::StatusOr<Scene> LayOutChart(const HeatMap& chart, double width, double height, const MeasureText& measure) {
  const auto columns = static_cast<double>(std::max<std::int64_t>(chart.columns, 1));
  const double rows = static_cast<double>(chart.values.size()) / columns;
  // Cell i reaches from i - 1/2 to i + 1/2, so that its tick stands at its middle.
  const auto cells_of = [](const std::string& label, double count) {
    return ExactAxis(label, Axis::Scale::kWhole, -0.5, std::max(count, 1.0) - 0.5);
  };
  const ColourMap map = ColourMap::For(chart.values);
  absl::StatusOr<Frame> frame =
      LayOutFrame({.title = chart.title,
                   .x = cells_of(chart.x_label, columns),
                   .y = cells_of(chart.y_label, rows),
                   .y_downwards = true,
                   .grid = false,
                   .shape = chart.square ? std::optional(columns / std::max(rows, 1.0)) : std::nullopt,
                   .colours = map,
                   .colours_label = chart.value_label},
                  width, height, measure);
  if (!frame.ok()) return frame.status();
  Cells cells = {.box = frame->area, .columns = static_cast<int>(columns), .colours = {}};
  cells.colours.reserve(chart.values.size());
  for (const float value : chart.values) cells.colours.push_back(std::isfinite(value) ? map(value) : kGrey);
  frame->scene.items.emplace_back(std::move(cells));
  return std::move(frame->scene);
}

}  // namespace

absl::StatusOr<Scene> LayOut(const Figure& figure, double width, double height, const MeasureText& measure) {
  return std::visit([&](const auto& chart) { return LayOutChart(chart, width, height, measure); }, figure);
}

}  // namespace embd::cli::plot

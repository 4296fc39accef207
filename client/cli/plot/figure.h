#ifndef EMBD_CLIENT_CLI_PLOT_FIGURE_H_
#define EMBD_CLIENT_CLI_PLOT_FIGURE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace embd::cli::plot {

/// The most series that one chart tells apart: as many as there are colours that everybody can.
inline constexpr std::size_t kMaxSeries = 7;

/// How the points of a series are shown.
enum class SeriesStyle : std::uint8_t {
  kMeasured,   ///< a line with markers, in a colour of its own
  kFormula,    ///< a black dashed line
  kReference,  ///< a grey dotted line
};

/// A row of points. Points that are not finite are gaps.
struct Series {
  std::string name = {};
  std::vector<double> x = {};
  std::vector<double> y = {};
  SeriesStyle style = SeriesStyle::kMeasured;
};

/// Lines over a common x axis of whole numbers. At most kMaxSeries of each style.
struct LineChart {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  std::vector<Series> series = {};
  bool logarithmic = false;  ///< the y axis; points that are not positive are gaps then
};

/// How many there are of something in intervals that follow each other: one edge more than counts, ascending.
struct Histogram {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  std::vector<double> edges = {};
  std::vector<std::int64_t> counts = {};
};

/// A matrix as coloured cells, row 0 at the top. Cells that are not finite are grey. Where a cell is negative the
/// colours diverge from white at 0, to equal lengths; else they go from the smallest cell to the largest.
struct HeatMap {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  std::string value_label = {};
  std::int64_t columns = 0;
  std::vector<float> values = {};  ///< (rows, columns), row-major
  bool square = false;             ///< whether a cell is as wide as high
};

using Figure = std::variant<LineChart, Histogram, HeatMap>;

/// The title of whichever it is.
[[nodiscard]] inline const std::string& TitleOf(const Figure& figure) {
  return std::visit([](const auto& chart) -> const std::string& { return chart.title; }, figure);
}

}  // namespace embd::cli::plot

#endif  // EMBD_CLIENT_CLI_PLOT_FIGURE_H_

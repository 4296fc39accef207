#ifndef EMBD_CLIENT_CLI_PLOT_FRAME_H_
#define EMBD_CLIENT_CLI_PLOT_FRAME_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/plot/axis.h"
#include "client/cli/plot/scene.h"
#include "client/cli/plot/text_layout.h"

namespace embd::cli::plot {

/// How a series looks.
struct LineLook {
  Colour colour = kBlack;
  double width = 1.5;
  std::vector<double> dashes = {};
  std::optional<MarkerShape> marker = {};
};

struct LegendEntry {
  std::string name = {};
  LineLook look = {};
};

/// What stands around the data of a chart.
struct FrameParts {
  std::string title = {};
  std::vector<LegendEntry> legend = {};  ///< in rows below the title
  Axis x = {};
  Axis y = {};
  bool y_downwards = false;               ///< whether y grows downwards
  bool grid = true;                       ///< lines across the area at the ticks
  std::optional<double> shape = {};       ///< width / height of the area; unset: what is free
  std::optional<ColourMap> colours = {};  ///< a bar of them on the right
  std::string colours_label = {};
};

/// A page with all that stands around the data, and where the data goes.
struct Frame {
  Scene scene = {};
  Box area = {};
  Axis x = {};
  Axis y = {};
  bool y_downwards = false;

  /// Where a value of each axis lies on the page.
  [[nodiscard]] Point At(double x_value, double y_value) const;
};

/// Lays out a page: margins as wide as the text in them needs, as many ticks as fit beside each other, and text that is
/// too long cut. No text leaves the page or covers other text or the area.
///
/// Errors:
///   INVALID_ARGUMENT  the page is too small to leave an area for data.
[[nodiscard]] absl::StatusOr<Frame> LayOutFrame(const FrameParts& parts, double width, double height,
                                                const MeasureText& measure);

}  // namespace embd::cli::plot

#endif  // EMBD_CLIENT_CLI_PLOT_FRAME_H_

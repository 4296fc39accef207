#ifndef EMBD_CLIENT_CLI_PLOT_SCENE_H_
#define EMBD_CLIENT_CLI_PLOT_SCENE_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "client/cli/plot/colour_map.h"

// A picture as what is to be drawn where. Lengths are units of 1/96 inch, from the page's left upper corner.
namespace embd::cli::plot {

struct Point {
  double x = 0;
  double y = 0;
};

struct Box {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;

  [[nodiscard]] double right() const { return left + width; }
  [[nodiscard]] double bottom() const { return top + height; }
};

/// How text is set, always in DejaVu Sans.
struct Font {
  double size = 0;
  bool bold = false;
};

/// One line of text.
struct Text {
  std::string text = {};
  Font font = {};
  bool upwards = false;  ///< reads from bottom to top
  Box box = {};          ///< what it covers; its height (upwards: its width) is that of a line of the font
};

/// A line through points.
struct Stroke {
  std::vector<Point> points = {};
  Colour colour = kBlack;
  double width = 1;
  std::vector<double> dashes = {};  ///< lengths of lines and gaps in turn; empty: no gaps
};

/// A filled box.
struct Fill {
  Box box = {};
  Colour colour = kBlack;
};

enum class MarkerShape : std::uint8_t { kCircle, kSquare, kTriangle, kDiamond, kCross, kPlus, kTriangleDown };

struct Marker {
  Point at = {};
  MarkerShape shape = MarkerShape::kCircle;
  Colour colour = kBlack;
};

/// Equal rectangles of one colour each that fill a box, row by row from its top.
struct Cells {
  Box box = {};
  int columns = 0;
  std::vector<Colour> colours = {};

  [[nodiscard]] int rows() const { return static_cast<int>(colours.size()) / columns; }
};

/// What a page shows; later items cover earlier ones.
struct Scene {
  double width = 0;
  double height = 0;
  std::vector<std::variant<Stroke, Fill, Marker, Cells, Text>> items = {};
};

}  // namespace embd::cli::plot

#endif  // EMBD_CLIENT_CLI_PLOT_SCENE_H_

#ifndef EMBD_CLIENT_CLI_PLOT_TEXT_LAYOUT_H_
#define EMBD_CLIENT_CLI_PLOT_TEXT_LAYOUT_H_

#include <functional>
#include <string>

#include "client/cli/plot/scene.h"

namespace embd::cli::plot {

inline constexpr Font kTitleFont = {.size = 15, .bold = true};
inline constexpr Font kLabelFont = {.size = 12};
inline constexpr Font kTickFont = {.size = 11};

/// How wide a line of text is, and how high a line of its font.
struct TextSize {
  double width = 0;
  double height = 0;
};

using MeasureText = std::function<TextSize(const std::string& text, const Font& font)>;

/// Where in a text's box a point lies: 0 is its left or upper end, 1 its right or lower one.
struct Anchor {
  double x = 0.5;
  double y = 0.5;
};

/// Text whose box has its anchor at `at`.
[[nodiscard]] Text PlaceText(const MeasureText& measure, std::string text, const Font& font, Point at,
                             const Anchor& anchor, bool upwards = false);

/// `text`, or as much of its beginning as fits into `width` with "…" behind it. Cuts between characters of UTF-8.
[[nodiscard]] std::string Fitted(const MeasureText& measure, const std::string& text, const Font& font, double width);

}  // namespace embd::cli::plot

#endif  // EMBD_CLIENT_CLI_PLOT_TEXT_LAYOUT_H_

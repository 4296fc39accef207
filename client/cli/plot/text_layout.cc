#include "client/cli/plot/text_layout.h"

#include <cstddef>
#include <utility>

namespace embd::cli::plot {

Text PlaceText(const MeasureText& measure, std::string text, const Font& font, Point at, const Anchor& anchor,
               bool upwards) {
  TextSize size = measure(text, font);
  if (upwards) std::swap(size.width, size.height);
  const Box box = {.left = at.x - anchor.x * size.width,
                   .top = at.y - anchor.y * size.height,
                   .width = size.width,
                   .height = size.height};
  return {.text = std::move(text), .font = font, .upwards = upwards, .box = box};
}

std::string Fitted(const MeasureText& measure, const std::string& text, const Font& font, double width) {
  if (measure(text, font).width <= width) return text;
  const auto continues = [&text](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U; };
  for (std::size_t length = text.size(); length > 0;) {
    do {
      --length;
    } while (length > 0 && continues(length));
    std::string cut = text.substr(0, length) + "…";
    if (measure(cut, font).width <= width) return cut;
  }
  return "";
}

}  // namespace embd::cli::plot

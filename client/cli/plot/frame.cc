#include "client/cli/plot/frame.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"

namespace embd::cli::plot {
namespace {

constexpr double kMargin = 12;   // of the page
constexpr double kGap = 6;       // between texts, and between text and what it belongs to
constexpr double kXTickGap = 8;  // of the x axis and its numbers: half a number of the y axis stands beside it
constexpr double kTickLength = 4;
constexpr double kTickSpacing = 40;  // of ticks one above the other
constexpr double kBarWidth = 14;
constexpr double kBarGap = 16;       // between the area and the bar
constexpr double kSampleWidth = 26;  // of a line in the legend
constexpr double kLegendGap = 16;
constexpr double kLeastArea = 80;
constexpr int kMostTicks = 12;
constexpr Colour kInk = 0x333333;

// Lays out one page; each part takes its room from what the earlier ones left of `free_`.
class FrameLayout {
 public:
  FrameLayout(const FrameParts& parts, double width, double height, const MeasureText& measure)
      : parts_(parts),
        measure_(measure),
        free_{.left = kMargin, .top = kMargin, .width = width - 2 * kMargin, .height = height - 2 * kMargin} {
    frame_ = {.scene = {.width = width, .height = height, .items = {}},
              .area = {},
              .x = parts.x,
              .y = parts.y,
              .y_downwards = parts.y_downwards};
  }

  absl::StatusOr<Frame> Run() && {
    Add(Fill{.box = {.left = 0, .top = 0, .width = frame_.scene.width, .height = frame_.scene.height},
             .colour = kWhite});
    PutTitle();
    PutLegend();
    TakeBottom(LineHeight(kLabelFont) + kGap + LineHeight(kTickFont) + kXTickGap);
    y_ticks_ = parts_.y.Ticks(TicksIn(free_.height));
    TakeLeft(LineHeight(kLabelFont) + kGap + Widest(y_ticks_) + kTickLength + kGap);
    ReserveBar();
    frame_.area = Area();
    if (!(frame_.area.width >= kLeastArea && frame_.area.height >= kLeastArea)) {
      return absl::InvalidArgumentError(absl::StrCat("a page of ", frame_.scene.width, "x", frame_.scene.height,
                                                     " leaves too little room beside the text"));
    }
    x_ticks_ = XTicks();
    if (parts_.grid) PutGrid();
    PutXAxis();
    PutYAxis();
    if (parts_.colours) PutBar();
    return std::move(frame_);
  }

 private:
  template <typename Item>
  void Add(Item item) {
    frame_.scene.items.emplace_back(std::move(item));
  }
  void AddText(const std::string& text, const Font& font, Point at, const Anchor& anchor) {
    Add(PlaceText(measure_, text, font, at, anchor));
  }
  void AddLine(Point from, Point to, Colour colour) {
    Add(Stroke{.points = {from, to}, .colour = colour, .width = 1, .dashes = {}});
  }
  void AddUpwards(const std::string& text, Point at, const Anchor& anchor, double length) {
    Add(PlaceText(measure_, Fitted(measure_, text, kLabelFont, length), kLabelFont, at, anchor, /*upwards=*/true));
  }

  [[nodiscard]] double Width(const std::string& text, const Font& font) const { return measure_(text, font).width; }
  [[nodiscard]] double LineHeight(const Font& font) const { return measure_("", font).height; }
  [[nodiscard]] double Widest(const std::vector<Tick>& ticks) const {
    double widest = 0;
    for (const Tick& tick : ticks) widest = std::max(widest, Width(tick.label, kTickFont));
    return widest;
  }
  static int TicksIn(double length) {
    return std::clamp(static_cast<int>(std::max(length, 0.0) / kTickSpacing), 2, kMostTicks);
  }

  void TakeTop(double height) {
    free_.top += height;
    free_.height -= height;
  }
  void TakeBottom(double height) { free_.height -= height; }
  void TakeLeft(double width) {
    free_.left += width;
    free_.width -= width;
  }

  void PutTitle() {
    AddText(Fitted(measure_, parts_.title, kTitleFont, free_.width), kTitleFont, {frame_.scene.width / 2, free_.top},
            {.x = 0.5, .y = 0});
    TakeTop(LineHeight(kTitleFont) + kGap);
  }

  void PutLegend() {
    if (parts_.legend.empty()) return;
    const double line = LineHeight(kLabelFont);
    double left = free_.left;
    for (const LegendEntry& entry : parts_.legend) {
      const std::string name = Fitted(measure_, entry.name, kLabelFont, free_.width - kSampleWidth - kGap);
      const double width = kSampleWidth + kGap + Width(name, kLabelFont);
      if (left > free_.left && left + width > free_.right()) {
        left = free_.left;
        TakeTop(line + 2);
      }
      const double middle = free_.top + line / 2;
      PutSample(entry.look, left, middle);
      AddText(name, kLabelFont, {left + kSampleWidth + kGap, middle}, {.x = 0, .y = 0.5});
      left += width + kLegendGap;
    }
    TakeTop(line + kGap);
  }

  void PutSample(const LineLook& look, double left, double middle) {
    Add(Stroke{.points = {{left, middle}, {left + kSampleWidth, middle}},
               .colour = look.colour,
               .width = look.width,
               .dashes = look.dashes});
    if (look.marker) {
      Add(Marker{.at = {left + kSampleWidth / 2, middle}, .shape = *look.marker, .colour = look.colour});
    }
  }

  void ReserveBar() {
    if (!parts_.colours) {
      free_.width -= kGap;
      return;
    }
    bar_axis_ = ExactAxis(parts_.colours_label, Axis::Scale::kLinear, parts_.colours->low(), parts_.colours->high());
    bar_ticks_ = bar_axis_.Ticks(TicksIn(free_.height));
    bar_room_ = kBarGap + kBarWidth + kTickLength + kGap / 2 + Widest(bar_ticks_) + kGap + LineHeight(kLabelFont);
    free_.width -= bar_room_;
  }

  [[nodiscard]] Box Area() const {
    Box area = free_;
    // Half a tick label stands above the area's corner.
    const double half = LineHeight(kTickFont) / 2;
    area.top += half;
    area.height -= half;
    if (!parts_.shape) return area;
    const double width = std::min(area.width, area.height * *parts_.shape);
    const double height = width / *parts_.shape;
    area.left += (area.width - width) / 2;
    area.top += (area.height - height) / 2;
    area.width = width;
    area.height = height;
    return area;
  }

  // As many as stand beside each other, within the page.
  [[nodiscard]] std::vector<Tick> XTicks() const {
    for (int most = kMostTicks; most > 1; --most) {
      std::vector<Tick> ticks = parts_.x.Ticks(most);
      if (FitBeside(ticks)) return ticks;
    }
    std::vector<Tick> one = parts_.x.Ticks(1);
    return FitBeside(one) ? one : std::vector<Tick>();
  }

  [[nodiscard]] bool FitBeside(const std::vector<Tick>& ticks) const {
    double taken = kMargin / 2 - kGap;
    for (const Tick& tick : ticks) {
      const double half = Width(tick.label, kTickFont) / 2;
      const double middle = frame_.At(tick.value, parts_.y.low).x;
      if (middle - half < taken + kGap) return false;
      taken = middle + half;
    }
    return taken <= frame_.scene.width - kMargin / 2;
  }

  void PutGrid() {
    const Box& area = frame_.area;
    for (const Tick& tick : x_ticks_) {
      const double x = frame_.At(tick.value, parts_.y.low).x;
      AddLine({x, area.top}, {x, area.bottom()}, kLightGrey);
    }
    for (const Tick& tick : y_ticks_) {
      const double y = frame_.At(parts_.x.low, tick.value).y;
      AddLine({area.left, y}, {area.right(), y}, kLightGrey);
    }
  }

  void PutXAxis() {
    const Box& area = frame_.area;
    AddLine({area.left, area.bottom()}, {area.right(), area.bottom()}, kInk);
    for (const Tick& tick : x_ticks_) {
      const double x = frame_.At(tick.value, parts_.y.low).x;
      AddLine({x, area.bottom()}, {x, area.bottom() + kTickLength}, kInk);
      AddText(tick.label, kTickFont, {x, area.bottom() + kXTickGap}, {.x = 0.5, .y = 0});
    }
    const double room = frame_.scene.width - 2 * kMargin;
    Text label = PlaceText(measure_, Fitted(measure_, parts_.x.label, kLabelFont, room), kLabelFont,
                           {area.left + area.width / 2, area.bottom() + kXTickGap + LineHeight(kTickFont) + kGap},
                           {.x = 0.5, .y = 0});
    label.box.left = std::clamp(label.box.left, kMargin, frame_.scene.width - kMargin - label.box.width);
    Add(std::move(label));
  }

  void PutYAxis() {
    const Box& area = frame_.area;
    AddLine({area.left, area.top}, {area.left, area.bottom()}, kInk);
    for (const Tick& tick : y_ticks_) {
      const double y = frame_.At(parts_.x.low, tick.value).y;
      AddLine({area.left - kTickLength, y}, {area.left, y}, kInk);
      AddText(tick.label, kTickFont, {area.left - kGap, y}, {.x = 1, .y = 0.5});
    }
    AddUpwards(parts_.y.label, {area.left - kGap - Widest(y_ticks_) - kGap, area.top + area.height / 2},
               {.x = 1, .y = 0.5}, area.height);
  }

  void PutBar() {
    constexpr int kColours = 256;
    const Box& area = frame_.area;
    const Box bar = {.left = area.right() + kBarGap, .top = area.top, .width = kBarWidth, .height = area.height};
    Cells cells = {.box = bar, .columns = 1, .colours = {}};
    for (int i = 0; i < kColours; ++i) {
      const double share = 1 - static_cast<double>(i) / (kColours - 1);
      cells.colours.push_back((*parts_.colours)(bar_axis_.low + share * (bar_axis_.high - bar_axis_.low)));
    }
    Add(std::move(cells));
    const double ticks_left = bar.right() + kTickLength + kGap / 2;
    for (const Tick& tick : bar_ticks_) {
      const double y = bar.bottom() - bar_axis_.At(tick.value) * bar.height;
      AddLine({bar.right(), y}, {bar.right() + kTickLength, y}, kInk);
      AddText(tick.label, kTickFont, {ticks_left, y}, {.x = 0, .y = 0.5});
    }
    AddUpwards(parts_.colours_label, {ticks_left + Widest(bar_ticks_) + kGap, bar.top + bar.height / 2},
               {.x = 0, .y = 0.5}, bar.height);
  }

  const FrameParts& parts_;
  const MeasureText& measure_;
  Frame frame_;
  Box free_;
  std::vector<Tick> x_ticks_;
  std::vector<Tick> y_ticks_;
  Axis bar_axis_;
  std::vector<Tick> bar_ticks_;
  double bar_room_ = 0;
};

}  // namespace

Point Frame::At(double x_value, double y_value) const {
  const double up = y.At(y_value);
  return {.x = area.left + x.At(x_value) * area.width,
          .y = y_downwards ? area.top + up * area.height : area.bottom() - up * area.height};
}

absl::StatusOr<Frame> LayOutFrame(const FrameParts& parts, double width, double height, const MeasureText& measure) {
  return FrameLayout(parts, width, height, measure).Run();
}

}  // namespace embd::cli::plot

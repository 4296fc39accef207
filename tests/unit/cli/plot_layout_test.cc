#include "client/cli/plot/layout.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/plot/frame.h"
#include "client/cli/plot/picture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace embd::cli::plot {
namespace {

using embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

template <typename Item>
std::vector<Item> ItemsOf(const Scene& scene) {
  std::vector<Item> items;
  for (const auto& item : scene.items) {
    if (const auto* const found = std::get_if<Item>(&item)) items.push_back(*found);
  }
  return items;
}

std::vector<std::string> TextsOf(const Scene& scene) {
  std::vector<std::string> texts;
  for (const Text& text : ItemsOf<Text>(scene)) texts.push_back(text.text);
  return texts;
}

// As wide for each byte, whatever the font: no test depends on what is installed.
MeasureText EvenText() {
  return [](const std::string& text, const Font& font) {
    return TextSize{.width = 0.62 * font.size * static_cast<double>(text.size()), .height = 1.2 * font.size};
  };
}

bool Overlap(const Box& a, const Box& b) {
  return a.left < b.right() && b.left < a.right() && a.top < b.bottom() && b.top < a.bottom();
}

Series Line(std::string name, std::vector<double> y, SeriesStyle style = SeriesStyle::kMeasured) {
  std::vector<double> x(y.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i + 1);
  return {.name = std::move(name), .x = std::move(x), .y = std::move(y), .style = style};
}

std::vector<Figure> Figures() {
  LineChart curves = {
      .title = "How alike rows k apart are, position tables",
      .x_label = "offset k, in rows",
      .y_label = "mean cosine of rows p and p + k",
      .series = {Line("demo", {1, 0.5, -0.25}), Line("demo, formula", {1, 0.4}, SeriesStyle::kFormula)}};
  LineChart crowded = curves;
  for (int i = 0; i < 6; ++i)
    crowded.series.push_back(Line(absl::StrCat("a model of a long name, number ", i), {0, 1}));
  LineChart long_names = curves;
  long_names.title = std::string(300, 't');
  long_names.y_label = std::string(300, 'y');
  long_names.x_label = std::string(300, 'x');
  long_names.series.front().name = std::string(300, 'n');
  LineChart bands = {.title = "Bands", .x_label = "band", .y_label = "wavelength", .logarithmic = true};
  bands.series = {Line("D 64", {6.28, 47117, HUGE_VAL})};
  const Histogram norms = {.title = "Norms",
                           .x_label = "Euclidean norm of a row",
                           .y_label = "rows",
                           .edges = {5.65685424, 5.65685425, 5.65685426},
                           .counts = {1234567, 3}};
  const Histogram long_ticks = {.title = "Long ticks", .edges = {123456.05, 123456.95}, .counts = {1}};
  const HeatMap matrix = {.title = "Cosines",
                          .x_label = "row",
                          .y_label = "row",
                          .value_label = "cosine",
                          .columns = 2,
                          .values = {1, -0.123F, NAN, 1},
                          .square = true};
  HeatMap wide = {.title = "Rows", .x_label = "column", .y_label = "position", .value_label = "value", .columns = 768};
  wide.values.assign(768 * 128, 0.001F);
  return {curves, crowded, long_names, bands, norms, long_ticks, matrix, wide};
}

void ExpectTextsApartOn(const Scene& scene) {
  const std::vector<Text> texts = ItemsOf<Text>(scene);
  for (const Text& text : texts) {
    EXPECT_GE(text.box.left, 0) << text.text;
    EXPECT_GE(text.box.top, 0) << text.text;
    EXPECT_LE(text.box.right(), scene.width) << text.text;
    EXPECT_LE(text.box.bottom(), scene.height) << text.text;
    for (const Text& other : texts) {
      EXPECT_FALSE(&text != &other && Overlap(text.box, other.box)) << text.text << " and " << other.text;
    }
  }
}

TEST(PlotLayout, NoTextLeavesThePageOrCoversOther) {
  for (const MeasureText& measure : {EvenText(), CanDraw() ? DrawnSize() : EvenText()}) {
    for (const Figure& figure : Figures()) {
      for (const auto& [width, height] : {std::pair{800.0, 500.0}, {400.0, 400.0}, {1600.0, 300.0}}) {
        SCOPED_TRACE(absl::StrCat(TitleOf(figure), " on ", width, "x", height));
        ASSERT_OK_AND_ASSIGN(const Scene scene, LayOut(figure, width, height, measure));
        ExpectTextsApartOn(scene);
      }
    }
  }
}

TEST(PlotLayout, TextKeepsOffTheDataAndOffTheOtherAxis) {
  const FrameParts parts = {.title = "title",
                            .legend = {{.name = "first"}, {.name = "second"}},
                            .x = ExactAxis("x", Axis::Scale::kLinear, 0, 1),
                            .y = ExactAxis("y", Axis::Scale::kLinear, -1e5, 1e5),
                            .colours = ColourMap::Diverging(1),
                            .colours_label = "value"};

  ASSERT_OK_AND_ASSIGN(const Frame frame, LayOutFrame(parts, 500, 400, EvenText()));

  ExpectTextsApartOn(frame.scene);
  for (const Text& text : ItemsOf<Text>(frame.scene)) EXPECT_FALSE(Overlap(text.box, frame.area)) << text.text;
  EXPECT_THAT(TextsOf(frame.scene), IsSupersetOf({"title", "first", "second", "x", "y", "value", "0.0", "-100000"}));
}

TEST(PlotLayout, PointsLieWhereTheAxesSay) {
  const LineChart chart = {.title = "t", .series = {Line("a", {0, 1, NAN, 0.5})}};

  ASSERT_OK_AND_ASSIGN(const Scene scene, LayOut(chart, 500, 400, EvenText()));

  std::vector<Marker> markers = ItemsOf<Marker>(scene);
  ASSERT_EQ(markers.size(), 4u);  // one of them in the legend
  markers.erase(markers.begin());
  EXPECT_DOUBLE_EQ((markers[0].at.y + markers[1].at.y) / 2, markers[2].at.y);
  EXPECT_LT(markers[1].at.y, markers[0].at.y);
  EXPECT_NEAR(markers[2].at.x - markers[1].at.x, 2 * (markers[1].at.x - markers[0].at.x), 1e-9);
}

TEST(PlotLayout, AGapIsNotBridged) {
  const LineChart chart = {.title = "t", .series = {Line("a", {0, 1, NAN, 0.5, 0.25})}};

  ASSERT_OK_AND_ASSIGN(const Scene scene, LayOut(chart, 500, 400, EvenText()));

  std::vector<std::size_t> lengths;
  for (const Stroke& stroke : ItemsOf<Stroke>(scene)) {
    if (stroke.colour == kSeriesColours[0]) lengths.push_back(stroke.points.size());
  }
  EXPECT_THAT(lengths, ElementsAre(2, 2, 2));  // the legend's, before the gap, behind it
}

TEST(PlotLayout, SeriesDifferByMoreThanColour) {
  LineChart chart = {.title = "t"};
  for (std::size_t i = 0; i < kMaxSeries; ++i) chart.series.push_back(Line(absl::StrCat("s", i), {0}));
  for (int i = 0; i < 2; ++i) chart.series.push_back(Line("f", {0, 1}, SeriesStyle::kFormula));

  ASSERT_OK_AND_ASSIGN(const Scene scene, LayOut(chart, 1200, 500, EvenText()));

  std::vector<MarkerShape> shapes;
  for (const Marker& marker : ItemsOf<Marker>(scene)) shapes.push_back(marker.shape);
  std::sort(shapes.begin(), shapes.end());
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  EXPECT_EQ(shapes.size(), kMaxSeries);
  std::vector<std::vector<double>> dashes;
  for (const Stroke& stroke : ItemsOf<Stroke>(scene)) {
    if (!stroke.dashes.empty()) dashes.push_back(stroke.dashes);
  }
  ASSERT_EQ(dashes.size(), 4u);
  EXPECT_NE(dashes.front(), dashes.back());
}

TEST(PlotLayout, BarsAreAsHighAsTheyCount) {
  const Histogram chart = {.title = "t", .edges = {0, 1, 2, 3}, .counts = {4, 0, 8}};

  ASSERT_OK_AND_ASSIGN(const Scene scene, LayOut(chart, 500, 400, EvenText()));

  const std::vector<Fill> fills = ItemsOf<Fill>(scene);  // the page first
  ASSERT_EQ(fills.size(), 3u);
  EXPECT_NEAR(fills[2].box.height, 2 * fills[1].box.height, 1e-9);
  EXPECT_DOUBLE_EQ(fills[1].box.bottom(), fills[2].box.bottom());
}

TEST(PlotLayout, CellsHaveTheColoursOfTheirValues) {
  const HeatMap chart = {.title = "t", .columns = 2, .values = {1, -1, NAN, 0, 0.5F, 0}, .square = true};

  ASSERT_OK_AND_ASSIGN(const Scene scene, LayOut(chart, 500, 400, EvenText()));

  const Cells cells = ItemsOf<Cells>(scene).back();  // behind the colour bar
  const ColourMap map = ColourMap::Diverging(1);
  EXPECT_THAT(cells.colours, ElementsAre(map(1), map(-1), kGrey, map(0), map(0.5), map(0)));
  EXPECT_EQ(cells.rows(), 3);
  EXPECT_NEAR(cells.box.width / 2, cells.box.height / 3, 1e-9);
}

TEST(PlotLayout, TextThatIsTooLongIsCutBetweenCharacters) {
  const MeasureText even = EvenText();
  const Font font = {.size = 10};
  EXPECT_EQ(Fitted(even, "short", font, 40), "short");
  EXPECT_EQ(Fitted(even, "ääääää", font, 50), "ää…");  // of 2 bytes each, and 3
  EXPECT_EQ(Fitted(even, "long", font, 5), "");
}

TEST(PlotLayout, APageWithoutRoomForDataIsRefused) {
  EXPECT_THAT(LayOut(Figures().front(), 140, 120, EvenText()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("140x120 leaves too little room")));
}

}  // namespace
}  // namespace embd::cli::plot

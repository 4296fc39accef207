#include "server/observability/metric_text.h"

#include <array>
#include <cstdint>

#include "gmock/gmock.h"

namespace embd::observability {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricText, MetricHasHelpTypeAndSamples) {
  MetricText text;
  text.Begin(MetricText::Type::kCounter, "a_total", "What a is.");
  text.Add({{"model", "m"}, {"version", "1"}}, 3);

  EXPECT_EQ(text.Text(), "# HELP a_total What a is.\n# TYPE a_total counter\na_total{model=\"m\",version=\"1\"} 3\n");
}

TEST(MetricText, MetricWithoutSamplesIsLeftOut) {
  MetricText text;
  text.Begin(MetricText::Type::kGauge, "a", "A.");
  text.Begin(MetricText::Type::kGauge, "b", "B.");
  text.Add({}, 1);

  EXPECT_THAT(text.Text(), Not(HasSubstr("# HELP a ")));
  EXPECT_THAT(text.Text(), HasSubstr("\nb 1\n"));
}

TEST(MetricText, LabelValuesAreEscaped) {
  MetricText text;
  text.Begin(MetricText::Type::kGauge, "a", "A.");
  text.Add({{"model", "x\"y\\z\nw"}}, 1);

  EXPECT_THAT(text.Text(), HasSubstr(R"(a{model="x\"y\\z\nw"} 1)"));
}

TEST(MetricText, LargeCountsAreWhole) {
  MetricText text;
  text.Begin(MetricText::Type::kGauge, "a", "A.");
  text.Add({}, 9007199254740991.0);

  EXPECT_THAT(text.Text(), HasSubstr("\na 9007199254740991\n"));
}

TEST(MetricText, BucketsOfAHistogramAreCumulated) {
  MetricText text;
  text.BeginHistogram("a_seconds", "A.");
  text.AddHistogram({{"m", "x"}}, std::array{0.1, 0.25}, std::array<std::uint64_t, 3>{1, 2, 4}, 5.5);

  const std::string all = text.Text();

  EXPECT_THAT(all, HasSubstr("a_seconds_bucket{m=\"x\",le=\"0.1\"} 1\n"));
  EXPECT_THAT(all, HasSubstr("a_seconds_bucket{m=\"x\",le=\"0.25\"} 3\n"));
  EXPECT_THAT(all, HasSubstr("a_seconds_bucket{m=\"x\",le=\"+Inf\"} 7\n"));
  EXPECT_THAT(all, HasSubstr("a_seconds_count{m=\"x\"} 7\n"));
  EXPECT_THAT(all, HasSubstr("a_seconds_sum{m=\"x\"} 5.5\n"));
}

}  // namespace
}  // namespace embd::observability

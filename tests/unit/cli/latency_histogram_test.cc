#include "client/cli/load/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace embd::cli {
namespace {

constexpr double kPercents[] = {0, 0.1, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100};
constexpr double kWithin = 0.004;

LatencyHistogram HistogramOf(const std::vector<std::int64_t>& values_ns) {
  LatencyHistogram histogram;
  for (const std::int64_t ns : values_ns) histogram.Record(absl::Nanoseconds(ns));
  return histogram;
}

// By the definition: the value at rank ceil(N * percent / 100) of the sorted list.
std::int64_t ExactPercentile(std::vector<std::int64_t> values_ns, double percent) {
  std::sort(values_ns.begin(), values_ns.end());
  const auto count = static_cast<double>(values_ns.size());
  const double rank = std::clamp(std::ceil(count * percent / 100), 1.0, count);
  return values_ns[static_cast<std::size_t>(rank) - 1];
}

void ExpectPercentilesOf(const std::vector<std::int64_t>& values_ns) {
  const LatencyHistogram histogram = HistogramOf(values_ns);
  for (const double percent : kPercents) {
    SCOPED_TRACE(percent);
    const auto exact = static_cast<double>(ExactPercentile(values_ns, percent));
    EXPECT_NEAR(static_cast<double>(absl::ToInt64Nanoseconds(histogram.Percentile(percent))), exact, kWithin * exact);
  }
}

TEST(LatencyHistogram, PercentilesOfUniformLatenciesAreThoseOfTheSortedList) {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> values(100'000);
  for (std::int64_t& ns : values) ns = static_cast<std::int64_t>(1'000 + random() % 9'000'000);

  ExpectPercentilesOf(values);
}

TEST(LatencyHistogram, PercentilesOfALongTailAreThoseOfTheSortedList) {
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> tail(12, 3);  // medians of 160 us, tails of minutes
  std::vector<std::int64_t> values(100'000);
  for (std::int64_t& ns : values) ns = static_cast<std::int64_t>(tail(random));

  ExpectPercentilesOf(values);
}

TEST(LatencyHistogram, PercentilesOfTwoClustersFarApartAreThoseOfTheSortedList) {
  std::vector<std::int64_t> values(99'900, 50'000);
  values.insert(values.end(), 100, 3'600'000'000'000);  // an hour

  ExpectPercentilesOf(values);
}

TEST(LatencyHistogram, PercentilesOfFewValuesAreThoseOfTheSortedList) {
  for (const std::vector<std::int64_t>& values :
       {std::vector<std::int64_t>{123'456}, {1, 2}, {5, 5, 5}, {1'000, 2'000, 4'000'000'000}}) {
    ExpectPercentilesOf(values);
  }
}

TEST(LatencyHistogram, EveryMagnitudeUpToTheLargestHasItsPlace) {
  for (int bits = 0; bits < 63; ++bits) {
    const std::int64_t power = std::int64_t{1} << bits;
    for (const std::int64_t ns : {power - 1, power, power + power / 2, power + (power - 1)}) {
      SCOPED_TRACE(ns);
      // Between two others, so that it is not known exactly as an extreme.
      const LatencyHistogram histogram = HistogramOf({0, ns, std::numeric_limits<std::int64_t>::max()});
      const double read = static_cast<double>(absl::ToInt64Nanoseconds(histogram.Percentile(50)));
      EXPECT_NEAR(read, static_cast<double>(ns), kWithin * static_cast<double>(ns));
    }
  }
}

TEST(LatencyHistogram, ExtremesAndMeanAreExact) {
  const LatencyHistogram histogram = HistogramOf({1'234'567, 7, 987'654'321});

  EXPECT_EQ(histogram.Min(), absl::Nanoseconds(7));
  EXPECT_EQ(histogram.Max(), absl::Nanoseconds(987'654'321));
  EXPECT_EQ(histogram.Mean(), absl::Nanoseconds((1'234'567 + 7 + 987'654'321) / 3.0));
  EXPECT_EQ(histogram.count(), 3);
}

TEST(LatencyHistogram, WhatCannotBeCountedTakesTheNearestPlace) {
  LatencyHistogram histogram;
  histogram.Record(-absl::Seconds(1));
  histogram.Record(absl::InfiniteDuration());

  EXPECT_EQ(histogram.Min(), absl::ZeroDuration());
  EXPECT_EQ(histogram.Max(), absl::Nanoseconds(std::numeric_limits<std::int64_t>::max()));
}

TEST(LatencyHistogram, NothingRecordedReadsAsZero) {
  const LatencyHistogram histogram;

  for (const double percent : kPercents) EXPECT_EQ(histogram.Percentile(percent), absl::ZeroDuration());
  EXPECT_EQ(histogram.Min(), absl::ZeroDuration());
  EXPECT_EQ(histogram.Max(), absl::ZeroDuration());
  EXPECT_EQ(histogram.Mean(), absl::ZeroDuration());
}

TEST(LatencyHistogram, MergedOnesReadAsOneThatHasSeenAll) {
  std::mt19937_64 random(3);
  LatencyHistogram parts[4];
  LatencyHistogram whole;
  for (int i = 0; i < 10'000; ++i) {
    const absl::Duration latency = absl::Nanoseconds(static_cast<std::int64_t>(random() >> (20 + i % 40)));
    parts[i % 3].Record(latency);  // the last one stays empty
    whole.Record(latency);
  }
  LatencyHistogram merged;
  for (const LatencyHistogram& part : parts) merged.Merge(part);

  EXPECT_EQ(merged.count(), whole.count());
  EXPECT_EQ(merged.Min(), whole.Min());
  EXPECT_EQ(merged.Max(), whole.Max());
  for (const double percent : kPercents) EXPECT_EQ(merged.Percentile(percent), whole.Percentile(percent));
}

}  // namespace
}  // namespace embd::cli

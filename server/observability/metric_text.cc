#include "server/observability/metric_text.h"

#include <limits>

#include "prometheus/text_serializer.h"

namespace embd::observability {
namespace {

prometheus::MetricType ToMetricType(MetricText::Type type) {
  switch (type) {
    case MetricText::Type::kCounter: return prometheus::MetricType::Counter;
    case MetricText::Type::kGauge: return prometheus::MetricType::Gauge;
    case MetricText::Type::kUntyped: return prometheus::MetricType::Untyped;
  }
  return prometheus::MetricType::Untyped;
}

}  // namespace

void MetricText::Begin(Type type, absl::string_view name, absl::string_view help) {
  families_.push_back({.name = std::string(name), .help = std::string(help), .type = ToMetricType(type), .metric = {}});
}

void MetricText::BeginHistogram(absl::string_view name, absl::string_view help) {
  families_.push_back(
      {.name = std::string(name), .help = std::string(help), .type = prometheus::MetricType::Histogram, .metric = {}});
}

prometheus::ClientMetric& MetricText::NewSample(const Labels& labels) {
  prometheus::ClientMetric& sample = families_.back().metric.emplace_back();
  for (const auto& [name, value] : labels) sample.label.push_back({std::string(name), std::string(value)});
  return sample;
}

void MetricText::Add(const Labels& labels, double value) {
  const prometheus::MetricType type = families_.back().type;
  prometheus::ClientMetric& sample = NewSample(labels);
  if (type == prometheus::MetricType::Counter) sample.counter.value = value;
  if (type == prometheus::MetricType::Gauge) sample.gauge.value = value;
  if (type == prometheus::MetricType::Untyped) sample.untyped.value = value;
}

void MetricText::AddHistogram(const Labels& labels, std::span<const double> ends, std::span<const std::uint64_t> counts,
                              double sum) {
  prometheus::ClientMetric::Histogram& histogram = NewSample(labels).histogram;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    histogram.sample_count += counts[i];
    histogram.bucket.push_back({.cumulative_count = histogram.sample_count,
                                .upper_bound = i < ends.size() ? ends[i] : std::numeric_limits<double>::infinity()});
  }
  histogram.sample_sum = sum;
}

std::string MetricText::Text() const {
  std::vector<prometheus::MetricFamily> written;
  for (const prometheus::MetricFamily& each : families_) {
    if (!each.metric.empty()) written.push_back(each);
  }
  return prometheus::TextSerializer().Serialize(written);
}

}  // namespace embd::observability

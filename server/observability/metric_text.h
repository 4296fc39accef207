#ifndef EMBD_SERVER_OBSERVABILITY_METRIC_TEXT_H_
#define EMBD_SERVER_OBSERVABILITY_METRIC_TEXT_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "prometheus/metric_family.h"

namespace embd::observability {

/// Figures in the text format that Prometheus reads, collected for one scrape.
///
/// Thread safety: not thread-safe.
class MetricText {
 public:
  enum class Type { kCounter, kGauge, kUntyped };
  using Labels = std::vector<std::pair<absl::string_view, absl::string_view>>;

  /// Begins a metric: what is added next belongs to it. One without samples is left out of the text.
  void Begin(Type type, absl::string_view name, absl::string_view help);
  void BeginHistogram(absl::string_view name, absl::string_view help);

  /// Adds a sample. Label values may be any bytes.
  void Add(const Labels& labels, double value);

  /// Adds a histogram: `ends[i]` is the upper end of bucket i, and `counts[i]` what fell into that bucket alone. There
  /// is one count more than ends, for what is above them all.
  void AddHistogram(const Labels& labels, std::span<const double> ends, std::span<const std::uint64_t> counts,
                    double sum);

  /// Everything so far, in the order in which it was begun.
  [[nodiscard]] std::string Text() const;

 private:
  prometheus::ClientMetric& NewSample(const Labels& labels);

  std::vector<prometheus::MetricFamily> families_;
};

/// The content type of `MetricText::Text`.
inline constexpr absl::string_view kMetricContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace embd::observability

#endif  // EMBD_SERVER_OBSERVABILITY_METRIC_TEXT_H_

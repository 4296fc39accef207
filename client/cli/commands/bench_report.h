#ifndef EMBD_CLIENT_CLI_COMMANDS_BENCH_REPORT_H_
#define EMBD_CLIENT_CLI_COMMANDS_BENCH_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/commands/bench_options.h"
#include "client/cli/load/load_run.h"
#include "embd/client/caching_client.h"
#include "embd/client/diagnostics.h"

namespace embd::cli {

/// All that a report of `bench` says.
struct BenchReport {
  const BenchOptions& options;
  const std::vector<BatchShape>& shapes;
  std::size_t distinct_batches = 0;
  std::string address;
  double timeout_s = 0;
  const client::ServerInfo& server;
  const client::ModelDescription& model;
  const LoadResult& result;
  /// Of the whole load, warm-up included; unset: there was no cache.
  std::optional<client::CachingStatistics> cache = {};

  /// Of the measured time; 0 where no time passed. MB are 10^6 bytes.
  [[nodiscard]] double PerSecond(std::int64_t count) const;
};

/// The percentiles that are reported, by name in JSON and in text.
struct ReportedPercentile {
  const char* json_name;
  const char* title;
  double percent;
};
inline constexpr ReportedPercentile kPercentiles[] = {
    {"p50", "p50", 50}, {"p90", "p90", 90}, {"p99", "p99", 99}, {"p99_9", "p99.9", 99.9}};

/// For people: aligned lines.
[[nodiscard]] std::string BenchText(const BenchReport& report);

/// For programs: everything, the settings included.
[[nodiscard]] nlohmann::ordered_json BenchJson(const BenchReport& report);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_BENCH_REPORT_H_

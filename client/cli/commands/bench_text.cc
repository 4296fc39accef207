#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/bench_report.h"
#include "client/cli/files/number_text.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string Count(std::int64_t count, absl::string_view one, absl::string_view many) {
  return absl::StrCat(count, " ", count == 1 ? one : many);
}

std::string Milliseconds(absl::Duration time) { return absl::StrFormat("%.3f", absl::ToDoubleMilliseconds(time)); }

std::string LoadText(const BenchOptions& options) {
  std::string text = absl::StrCat(options.mode, ", ", Count(options.concurrency, "caller", "callers"), " on ",
                                  Count(options.connections, "connection", "connections"));
  if (options.HasWindow()) absl::StrAppend(&text, ", ", options.WindowOrDefault(), " under way in each");
  if (options.chunks) absl::StrAppend(&text, ", chunks ", *options.chunks);
  if (options.shared_memory) text += ", into shared memory";
  if (options.cache_bytes) absl::StrAppend(&text, ", through a cache of ", *options.cache_bytes, " bytes");
  if (options.rate) return absl::StrCat(text, "; open loop, ", *options.rate, " calls/s");
  return text + "; closed loop";
}

std::string BatchesText(const BenchReport& report) {
  const BenchOptions& options = report.options;
  const std::string shapes = absl::StrJoin(report.shapes, ", ", [](std::string* out, const BatchShape& shape) {
    absl::StrAppend(out, shape.batch_size, " x ", shape.sequence_length);
  });
  const std::string ids = options.part == "position" ? "no ids"
                          : options.ids_file         ? absl::StrCat("ids of ", *options.ids_file)
                                             : absl::StrCat("ids ", options.ids_distribution, ", seed ", options.seed);
  return absl::StrCat(shapes, ", ", options.part, ", ", options.dtype, "; ", report.distinct_batches, " distinct, ",
                      ids);
}

Fields SettingFields(const BenchReport& report) {
  return {{"model", absl::StrCat(report.model.name, ", version ", report.model.version, ", generation ",
                                 report.model.generation, ", checksum ", report.model.checksum.substr(0, 12))},
          {"server", absl::StrCat(report.address, ", embd ", report.server.version, ", ", report.server.simd_target,
                                  "; client ", EMBD_VERSION)},
          {"load", LoadText(report.options)},
          {"batches", BatchesText(report)}};
}

Fields ResultFields(const BenchReport& report) {
  const LoadResult& result = report.result;
  const Tally& tally = result.tally;
  Fields fields = {
      {"measured", absl::StrCat(absl::StrFormat("%.3f s", absl::ToDoubleSeconds(result.elapsed)), " after ",
                                report.options.warmup_s, " s of warm-up", result.cut_short ? "; CUT SHORT" : "")},
      {"calls", absl::StrCat(tally.calls)},
      {"failed", absl::StrCat(tally.failed())}};
  if (tally.abandoned > 0) fields.emplace_back("abandoned", absl::StrCat(tally.abandoned, " at the interruption"));
  fields.emplace_back("calls/s", absl::StrFormat("%.1f", report.PerSecond(tally.calls)));
  fields.emplace_back("rows/s", absl::StrFormat("%.0f", report.PerSecond(tally.rows)));
  fields.emplace_back("MB/s", absl::StrFormat("%.2f", report.PerSecond(tally.bytes) / 1e6));
  if (report.options.rate) {
    fields.emplace_back("rate", absl::StrFormat("%.1f calls/s achieved, %g wanted",
                                                report.PerSecond(tally.calls + tally.failed()), *report.options.rate));
    fields.emplace_back("late starts",
                        absl::StrCat(tally.late_starts, " of ", Milliseconds(Tally::kLate),
                                     " ms or more, the latest by ", Milliseconds(tally.most_late), " ms"));
  }
  return fields;
}

void AddCacheFields(const client::CachingStatistics& cache, Fields& fields) {
  fields.emplace_back("cache",
                      absl::StrCat(cache.hits, " hits, ", cache.misses, " misses; ", cache.rows_fetched, " token and ",
                                   cache.position_rows_fetched, " position rows fetched; warm-up included"));
  fields.emplace_back(
      "saved", absl::StrCat(cache.bytes_delivered - cache.bytes_fetched, " of ", cache.bytes_delivered, " bytes in ",
                            Count(cache.composed_calls, "call", "calls"), "; ", Count(cache.rows_kept, "row", "rows"),
                            " in ", cache.bytes_kept, " bytes kept"));
  if (cache.tables_dropped > 0) fields.emplace_back("dropped", Count(cache.tables_dropped, "time", "times"));
  if (cache.plain_calls == 0) return;
  fields.emplace_back("uncached", absl::StrCat(Count(cache.plain_calls, "call", "calls"), ": ", cache.plain_reason));
}

std::string LatencyText(const LatencyHistogram& latency) {
  if (latency.count() == 0) return "no call succeeded\n";
  std::vector<Column> columns = {{"latency, ms", Column::Align::kLeft}};
  std::vector<std::string> cells = {""};
  const auto add = [&columns, &cells](const char* title, absl::Duration time) {
    columns.push_back({title, kRight});
    cells.push_back(Milliseconds(time));
  };
  add("min", latency.Min());
  add("mean", latency.Mean());
  for (const ReportedPercentile& each : kPercentiles) add(each.title, latency.Percentile(each.percent));
  add("max", latency.Max());
  return TableText(columns, {cells});
}

std::string ErrorsText(const Tally& tally) {
  if (tally.errors.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [code, error] : tally.errors) {
    rows.push_back({absl::StrCat(error.count), absl::StatusCodeToString(code), error.first_message});
  }
  return absl::StrCat("\n", TableText({{"failed", kRight}, {"code"}, {"the first one said"}}, rows));
}

}  // namespace

double BenchReport::PerSecond(std::int64_t count) const {
  const double seconds = absl::ToDoubleSeconds(result.elapsed);
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

std::string BenchText(const BenchReport& report) {
  Fields fields = SettingFields(report);
  for (auto& field : ResultFields(report)) fields.push_back(std::move(field));
  if (report.cache) AddCacheFields(*report.cache, fields);
  return absl::StrCat(FieldsText(fields), "\n", LatencyText(report.result.tally.latency),
                      ErrorsText(report.result.tally));
}

}  // namespace embd::cli

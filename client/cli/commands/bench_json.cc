#include <nlohmann/json.hpp>

#include "client/cli/commands/bench_report.h"

namespace embd::cli {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}

double Milliseconds(absl::Duration time) { return absl::ToDoubleMilliseconds(time); }

Json SettingsJson(const BenchReport& report) {
  const BenchOptions& options = report.options;
  const PaceSettings pace = options.Pace();
  Json shapes = Json::array();
  for (const BatchShape& shape : report.shapes) shapes.push_back({shape.batch_size, shape.sequence_length});
  return {
      {"mode", options.mode},
      {"loop", options.rate ? "open" : "closed"},
      {"concurrency", options.concurrency},
      {"connections", options.connections},
      {"window", options.HasWindow() ? Json(options.WindowOrDefault()) : Json()},
      {"chunks", options.HasChunks() ? Json(options.ChunksOrDefault()) : Json()},
      {"shared_memory", options.shared_memory},
      {"cache_bytes", OrNull(options.cache_bytes)},
      {"rate", OrNull(options.rate)},
      {"duration_s", pace.duration == absl::InfiniteDuration() ? Json() : Json(absl::ToDoubleSeconds(pace.duration))},
      {"calls", OrNull(options.calls)},
      {"warmup_s", options.warmup_s},
      {"timeout_s", report.timeout_s},
      {"shapes", std::move(shapes)},
      {"part", options.part},
      {"data_type", options.dtype},
      {"ids_file", OrNull(options.ids_file)},
      {"ids_distribution", options.ids_file ? Json() : Json(options.ids_distribution)},
      {"seed", options.seed},
      {"distinct_batches", report.distinct_batches}};
}

Json LatencyJson(const LatencyHistogram& latency) {
  if (latency.count() == 0) return {};
  Json json = {{"min", Milliseconds(latency.Min())}, {"mean", Milliseconds(latency.Mean())}};
  for (const ReportedPercentile& each : kPercentiles) {
    json[each.json_name] = Milliseconds(latency.Percentile(each.percent));
  }
  json["max"] = Milliseconds(latency.Max());
  return json;
}

Json OpenLoopJson(const BenchReport& report) {
  if (!report.options.rate) return {};
  const Tally& tally = report.result.tally;
  return {{"wanted_calls_per_s", *report.options.rate},
          {"achieved_calls_per_s", report.PerSecond(tally.calls + tally.failed())},
          {"late_starts", tally.late_starts},
          {"late_from_ms", Milliseconds(Tally::kLate)},
          {"max_lateness_ms", Milliseconds(tally.most_late)}};
}

Json CacheJson(const std::optional<client::CachingStatistics>& cache) {
  if (!cache) return {};
  return {{"composed_calls", cache->composed_calls},
          {"plain_calls", cache->plain_calls},
          {"plain_reason", cache->plain_calls == 0 ? Json() : Json(cache->plain_reason)},
          {"hits", cache->hits},
          {"misses", cache->misses},
          {"rows_fetched", cache->rows_fetched},
          {"position_rows_fetched", cache->position_rows_fetched},
          {"bytes_fetched", cache->bytes_fetched},
          {"bytes_delivered", cache->bytes_delivered},
          {"bytes_saved", cache->bytes_delivered - cache->bytes_fetched},
          {"tables_dropped", cache->tables_dropped},
          {"rows_kept", cache->rows_kept},
          {"bytes_kept", cache->bytes_kept}};
}

Json ErrorsJson(const Tally& tally) {
  Json errors = Json::array();
  for (const auto& [code, error] : tally.errors) {
    errors.push_back(
        {{"code", absl::StatusCodeToString(code)}, {"count", error.count}, {"first_message", error.first_message}});
  }
  return errors;
}

}  // namespace

nlohmann::ordered_json BenchJson(const BenchReport& report) {
  const Tally& tally = report.result.tally;
  return {{"model",
           {{"name", report.model.name},
            {"version", report.model.version},
            {"generation", report.model.generation},
            {"checksum", report.model.checksum},
            {"vocab_size", report.model.vocab_size},
            {"embedding_dim", report.model.embedding_dim}}},
          {"server",
           {{"address", report.address},
            {"version", report.server.version},
            {"build", report.server.build},
            {"simd_target", report.server.simd_target}}},
          {"client_version", EMBD_VERSION},
          {"settings", SettingsJson(report)},
          {"cut_short", report.result.cut_short},
          {"elapsed_s", absl::ToDoubleSeconds(report.result.elapsed)},
          {"calls", tally.calls},
          {"failed_calls", tally.failed()},
          {"abandoned_calls", tally.abandoned},
          {"warmup_calls", tally.warmup_calls},
          {"rows", tally.rows},
          {"payload_bytes", tally.bytes},
          {"calls_per_s", report.PerSecond(tally.calls)},
          {"rows_per_s", report.PerSecond(tally.rows)},
          {"mb_per_s", report.PerSecond(tally.bytes) / 1e6},
          {"latency_ms", LatencyJson(tally.latency)},
          {"open_loop", OpenLoopJson(report)},
          {"cache", CacheJson(report.cache)},
          {"errors", ErrorsJson(tally)}};
}

}  // namespace embd::cli

#include "server/app/metrics.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/app/memory_limit.h"
#include "server/app/version.h"
#include "server/core/kernels/simd_target.h"
#include "server/observability/metric_text.h"

namespace embd::app {
namespace {

using observability::MetricText;
using enum MetricText::Type;
using Counts = std::vector<std::pair<std::string, service::ModelCounts>>;
using Models = std::vector<std::shared_ptr<const core::Model>>;

// The codes as the gRPC libraries of Go name them, which dashboards expect, in the order of their numbers.
constexpr std::array<absl::string_view, service::CallCounts::kCodes> kCodes = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

constexpr std::array<absl::string_view, service::kFailureReasons> kReasons = {"REJECTED", "CANCELED", "BACKEND",
                                                                              "OTHER"};

absl::string_view TypeName(service::MethodType type) {
  switch (type) {
    case service::MethodType::kUnary: return "unary";
    case service::MethodType::kServerStream: return "server_stream";
    case service::MethodType::kBidiStream: return "bidi_stream";
  }
  return "unknown";
}

double Seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

double Microseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

double Double(std::integral auto value) { return static_cast<double>(value); }

void AddSingle(MetricText::Type type, absl::string_view name, absl::string_view help, double value, MetricText* text) {
  text->Begin(type, name, help);
  text->Add({}, value);
}

// One sample a model, of what `value` takes from its counts.
template <typename Value>
void AddOfModels(MetricText::Type type, absl::string_view name, absl::string_view help, const Counts& counts,
                 MetricText* text, Value value) {
  text->Begin(type, name, help);
  for (const auto& [model, of] : counts) text->Add({{"model", model}, {"version", of.version}}, value(of));
}

MetricText::Labels MethodLabels(const service::MethodInfo& info) {
  return {{"grpc_type", TypeName(info.type)}, {"grpc_service", info.service}, {"grpc_method", info.name}};
}

// A method that was never called has one series for OK only; one that was has all codes, so that the first failure is
// seen as an increase.
void AddCalls(const service::CallCounts& counts, MetricText* text) {
  std::vector<std::pair<const service::MethodInfo*, service::CallCounts::Of>> methods;
  for (const service::MethodInfo& info : service::Methods()) methods.emplace_back(&info, counts.Get(info.method));
  text->Begin(kCounter, "grpc_server_started_total", "Calls that have begun.");
  for (const auto& [info, of] : methods) text->Add(MethodLabels(*info), Double(of.started));
  text->Begin(kCounter, "grpc_server_handled_total", "Calls that have ended, by status code.");
  for (const auto& [info, of] : methods) {
    for (std::size_t code = 0; code < (of.started > 0 ? kCodes.size() : 1); ++code) {
      MetricText::Labels labels = MethodLabels(*info);
      labels.emplace_back("grpc_code", kCodes[code]);
      text->Add(labels, Double(of.ended[code]));
    }
  }
  text->BeginHistogram("grpc_server_handling_seconds", "How long calls took, from their arrival until their end.");
  for (const auto& [info, of] : methods) {
    if (of.started == 0) continue;
    text->AddHistogram(MethodLabels(*info), service::CallCounts::kBucketEnds, of.durations, Seconds(of.sum));
  }
}

void AddFailures(MetricText::Type type, const service::Statistics& statistics, const Counts& counts, MetricText* text) {
  text->Begin(type, "nv_inference_request_failure", "Requests that failed, by reason.");
  for (const auto& [model, of] : counts) {
    for (std::size_t i = 0; i < kReasons.size(); ++i) {
      text->Add({{"model", model}, {"version", of.version}, {"reason", kReasons[i]}}, Double(of.failures[i]));
    }
  }
  const auto unknown = statistics.UnknownFailures();
  for (std::size_t i = 0; i < kReasons.size(); ++i) {
    if (unknown[i] == 0) continue;
    text->Add({{"model", "unknown"}, {"version", "unknown"}, {"reason", kReasons[i]}}, Double(unknown[i]));
  }
}

void AddTritonTimes(const Counts& counts, MetricText* text) {
  const auto add = [&](absl::string_view name, absl::string_view help, auto of) {
    AddOfModels(kCounter, name, help, counts, text, of);
  };
  using C = const service::ModelCounts&;
  add("nv_inference_request_duration_us", "Time of successful requests, from end to end.",
      [](C c) { return Microseconds(c.success.sum); });
  add("nv_inference_queue_duration_us", "Time that successful requests waited for a thread.",
      [](C c) { return Microseconds(c.queue.sum); });
  add("nv_inference_compute_input_duration_us", "Time of reading and checking successful requests.",
      [](C c) { return Microseconds(c.input.sum); });
  add("nv_inference_compute_infer_duration_us", "Time of composing the rows of successful requests.",
      [](C c) { return Microseconds(c.compute.sum); });
  add("nv_inference_compute_output_duration_us", "Time of framing the replies of successful requests.",
      [](C c) { return Microseconds(c.output.sum); });
}

void AddTriton(Metrics::Names names, const service::Statistics& statistics, const Counts& counts, MetricText* text) {
  const bool checked = names == Metrics::Names::kChecked;
  const MetricText::Type counter = checked ? kUntyped : kCounter;
  const MetricText::Type gauge = checked ? kUntyped : kGauge;
  using C = const service::ModelCounts&;
  AddOfModels(counter, "nv_inference_request_success", "Requests that were answered.", counts, text,
              [](C c) { return Double(c.success.count); });
  AddFailures(counter, statistics, counts, text);
  AddOfModels(counter, "nv_inference_count", "Rows of the batches that were answered.", counts, text,
              [](C c) { return Double(c.rows); });
  AddOfModels(counter, "nv_inference_exec_count", "Batches that were composed; each request is one.", counts, text,
              [](C c) { return Double(c.success.count); });
  if (!checked) AddTritonTimes(counts, text);
  AddOfModels(gauge, "nv_inference_pending_request_count", "Requests that wait for a thread.", counts, text,
              [](C c) { return Double(c.waiting); });
  AddOfModels(kGauge, "nv_model_load_duration_secs", "How long the last load took.", counts, text,
              [](C c) { return Seconds(c.load_time); });
}

void AddPhases(const Counts& counts, MetricText* text) {
  text->Begin(kCounter, "embd_phase_seconds_total", "Time of successful requests, by what it was spent on.");
  for (const auto& [model, of] : counts) {
    const std::array<std::pair<absl::string_view, std::chrono::nanoseconds>, 4> phases = {
        {{"queue", of.queue.sum}, {"input", of.input.sum}, {"compute", of.compute.sum}, {"output", of.output.sum}}};
    for (const auto& [phase, time] : phases) {
      text->Add({{"model", model}, {"version", of.version}, {"phase", phase}}, Seconds(time));
    }
  }
}

void AddRequests(const Counts& counts, MetricText* text) {
  using C = const service::ModelCounts&;
  AddOfModels(kCounter, "embd_rows_total", "Rows of the batches that were answered.", counts, text,
              [](C c) { return Double(c.rows); });
  AddOfModels(kCounter, "embd_tokens_total", "Cells of the batches that were answered.", counts, text,
              [](C c) { return Double(c.tokens); });
  AddOfModels(kCounter, "embd_response_bytes_total", "Bytes of the replies, as they were encoded.", counts, text,
              [](C c) { return Double(c.reply_bytes); });
  text->BeginHistogram("embd_request_seconds",
                       "How long successful requests took; each message of a stream is a request.");
  for (const auto& [model, of] : counts) {
    text->AddHistogram({{"model", model}, {"version", of.version}}, service::CallCounts::kBucketEnds, of.durations,
                       Seconds(of.success.sum));
  }
  AddPhases(counts, text);
}

std::size_t TableBytes(const core::Model& model) {
  std::size_t bytes = model.token().table.bytes().size();
  if (model.position() != nullptr) bytes += model.position()->table.bytes().size();
  if (model.token_types().has_value() && model.token_types()->table.has_value()) {
    bytes += model.token_types()->table->table.bytes().size();
  }
  return bytes;
}

void AddModels(const Models& models, MetricText* text) {
  text->Begin(kGauge, "embd_table_info", "The token table of a model that is served; always 1.");
  for (const auto& model : models) {
    text->Add({{"name", model->name()},
               {"version", model->version()},
               {"dtype", core::ElementTypeName(model->token().table.element_type())},
               {"dim", absl::StrCat(model->embedding_dim())},
               {"rows", absl::StrCat(model->vocab_size())}},
              1);
  }
  const auto add = [&](MetricText::Type type, absl::string_view name, absl::string_view help, auto value) {
    text->Begin(type, name, help);
    for (const auto& model : models) {
      text->Add({{"model", model->name()}, {"version", model->version()}}, value(*model));
    }
  };
  add(kGauge, "embd_table_bytes", "Bytes of the tables of a model that is served.",
      [](const core::Model& model) { return Double(TableBytes(model)); });
  add(kGauge, "embd_model_generation", "How often a model that is served has been loaded.",
      [](const core::Model& model) { return Double(model.generation()); });
  add(kCounter, "embd_out_of_range_ids_total", "Ids outside the vocabulary that were not refused, since the last load.",
      [](const core::Model& model) { return Double(model.out_of_range_ids()); });
}

void AddState(const service::Backend& backend, bool ready, MetricText* text) {
  text->Begin(kGauge, "embd_build_info", "What this server is; always 1.");
  text->Add({{"version", kVersion}, {"build", kBuild}, {"simd", core::SimdTarget()}}, 1);
  AddSingle(kGauge, "embd_ready", "Whether the server is ready for calls: 1, or 0.", ready ? 1 : 0, text);
  AddSingle(kGauge, "embd_inflight_bytes", "Memory of replies that are made or not yet read by their callers.",
            Double(backend.buffers->bytes_in_flight()), text);
  AddSingle(kGauge, "embd_inflight_limit_bytes", "The limit of embd_inflight_bytes.",
            Double(backend.max_bytes_in_flight), text);
  AddSingle(kGauge, "embd_inflight_request_bytes", "Bytes of requests that are queued or worked on.",
            Double(backend.gate.request_bytes()), text);
  AddSingle(kGauge, "embd_inflight_calls", "Calls that are queued or worked on.", Double(backend.gate.calls()), text);
  AddSingle(kGauge, "embd_idle_reply_bytes", "Memory that is kept for replies to come.",
            Double(backend.buffers->idle_bytes()), text);
  text->Begin(kCounter, "embd_reload_total", "Loads of models and of the configuration after the start, by result.");
  text->Add({{"result", "success"}}, Double(backend.statistics.reloads()));
  text->Add({{"result", "failure"}}, Double(backend.statistics.failed_reloads()));
  AddSingle(kGauge, "embd_memory_limit_bytes", "The memory that this process may use.", Double(MemoryLimit()), text);
}

void AddProcess(MetricText* text) {
  const auto figures = ReadProcessFigures();
  if (!figures.has_value()) return;
  AddSingle(kCounter, "process_cpu_seconds_total", "CPU time of this process.", figures->cpu_seconds, text);
  AddSingle(kGauge, "process_resident_memory_bytes", "Memory of this process that is in RAM.",
            Double(figures->resident_bytes), text);
  AddSingle(kGauge, "process_virtual_memory_bytes", "Address space of this process.", Double(figures->virtual_bytes),
            text);
  AddSingle(kGauge, "process_open_fds", "File descriptors that are open.", Double(figures->open_fds), text);
  AddSingle(kGauge, "process_max_fds", "File descriptors that may be open.", Double(figures->max_fds), text);
  AddSingle(kGauge, "process_start_time_seconds", "When this process began, in seconds since 1970.",
            figures->start_time_seconds, text);
}

void AddMachine(const MachineFigures& last, const MachineFigures& now, MetricText* text) {
  const std::int64_t ticks = now.total_ticks - last.total_ticks;
  const double share = ticks > 0 ? Double(now.busy_ticks - last.busy_ticks) / Double(ticks) : 0;
  AddSingle(kGauge, "nv_cpu_utilization", "Share of the machine's CPUs that was busy since the last collection.",
            std::clamp(share, 0.0, 1.0), text);
  AddSingle(kGauge, "nv_cpu_memory_total_bytes", "Memory of the machine.", Double(now.memory_bytes), text);
  AddSingle(kGauge, "nv_cpu_memory_used_bytes", "Memory of the machine that is in use.", Double(now.used_memory_bytes),
            text);
}

}  // namespace

std::string Metrics::Collect(Names names) {
  Counts counts;
  for (std::string& name : backend_->statistics.Names()) {
    service::ModelCounts of = backend_->statistics.Of(name);
    counts.emplace_back(std::move(name), std::move(of));
  }
  MetricText text;
  AddState(*backend_, health_->IsServing(), &text);
  if (const auto expires = security_ == nullptr ? std::nullopt : security_->CertificateExpires()) {
    AddSingle(kGauge, "embd_tls_certificate_expiry_seconds",
              "When the server's certificate expires, in seconds since 1970.",
              absl::ToDoubleSeconds(*expires - absl::UnixEpoch()), &text);
  }
  AddModels(backend_->models.All(), &text);
  AddRequests(counts, &text);
  AddCalls(backend_->gate.counts(), &text);
  AddTriton(names, backend_->statistics, counts, &text);
  if (const auto machine = ReadMachineFigures()) AddMachine(std::exchange(last_, *machine), *machine, &text);
  AddProcess(&text);
  return text.Text();
}

}  // namespace embd::app

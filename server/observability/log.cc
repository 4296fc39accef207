#include "server/observability/log.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace embd::observability {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

std::atomic<LogFormat> chosen_format = LogFormat::kText;
// A request is sampled where its hash, of 32 bits, is below this.
std::atomic<std::uint64_t> sampled_below = 0;

spdlog::logger& Log() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto created = std::make_shared<spdlog::logger>("embd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    created->set_pattern("%v");
    created->flush_on(spdlog::level::trace);
    return created;
  }();
  return *logger;
}

absl::string_view NameOf(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace: return "trace";
    case spdlog::level::debug: return "debug";
    case spdlog::level::warn: return "warning";
    case spdlog::level::err: return "error";
    default: return "info";
  }
}

void Write(spdlog::level::level_enum level, absl::string_view message, const std::vector<LogField>& fields = {}) {
  if (!Log().should_log(level)) return;
  const std::string line = FormatLogLine(chosen_format.load(kRelaxed), absl::Now(), NameOf(level), message, fields);
  Log().log(level, spdlog::string_view_t(line.data(), line.size()));
}

// The last steps of MurmurHash3: every bit of the result depends on every bit of `x`.
std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

// FNV-1a, which is the same on every machine.
std::uint64_t Hash(absl::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return Mix(hash);
}

bool IsSampled(const CallNames& names) {
  const std::uint64_t hash = Hash(names.trace_id.empty() ? names.request_id : names.trace_id);
  return (hash >> 32) < sampled_below.load(kRelaxed);
}

void Append(absl::string_view name, absl::string_view value, std::vector<LogField>* fields) {
  if (!value.empty()) fields->push_back({name, value});
}

void Append(const CallNames& names, std::vector<LogField>* fields) {
  Append("request_id", names.request_id, fields);
  Append("trace_id", names.trace_id, fields);
  Append("span_id", names.span_id, fields);
}

}  // namespace

absl::Status SetLogLevel(const std::string& level) {
  for (const char* const allowed : {"trace", "debug", "info", "warn", "error", "off"}) {
    if (level == allowed) {
      Log().set_level(spdlog::level::from_str(level));
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("there is no log level \"", absl::Utf8SafeCHexEscape(level),
                                                 "\"; there are trace, debug, info, warn, error, off"));
}

void SetLogFormat(LogFormat format) { chosen_format.store(format, kRelaxed); }

void SetAccessSample(double share) {
  const double whole = std::ldexp(1.0, 32);
  sampled_below.store(static_cast<std::uint64_t>(std::clamp(share, 0.0, 1.0) * whole), kRelaxed);
}

void LogInfo(absl::string_view message) { Write(spdlog::level::info, message); }
void LogWarning(absl::string_view message) { Write(spdlog::level::warn, message); }
void LogError(absl::string_view message) { Write(spdlog::level::err, message); }

bool LogsRequests() {
  return Log().should_log(spdlog::level::debug) ||
         (sampled_below.load(kRelaxed) > 0 && Log().should_log(spdlog::level::info));
}

std::string NewRequestId() {
  static const std::uint64_t started = [] {
    std::random_device random;
    return (std::uint64_t{random()} << 32) | random();
  }();
  static std::atomic<std::uint64_t> count = 0;
  return absl::StrCat(absl::Hex(Mix(started + count.fetch_add(1, kRelaxed)), absl::kZeroPad16));
}

void LogRequest(const RequestLine& line) {
  if (!LogsRequests()) return;
  const bool always = Log().should_log(spdlog::level::debug);
  if (!always && !IsSampled(line.names)) return;
  constexpr std::size_t kMaxNameBytes = 128;
  std::vector<LogField> fields;
  Append(line.names, &fields);
  Append("rpc", line.rpc, &fields);
  Append("peer", line.peer, &fields);
  Append("model", line.model.substr(0, kMaxNameBytes), &fields);
  if (line.batch_size >= 0) {
    fields.push_back({"batch_size", line.batch_size});
    fields.push_back({"sequence_length", line.sequence_length});
  }
  fields.push_back({"request_bytes", line.request_bytes});
  fields.push_back({"reply_bytes", line.reply_bytes});
  fields.push_back({"us", line.microseconds});
  const std::string code = absl::StatusCodeToString(line.status.code());
  fields.push_back({"code", absl::string_view(code)});
  if (!line.status.ok()) Append("error", absl::string_view(line.status.message()), &fields);
  Write(always ? spdlog::level::debug : spdlog::level::info, "request", fields);
}

void LogInternalError(const CallNames& names, absl::string_view rpc, const absl::Status& status) {
  std::vector<LogField> fields;
  Append(names, &fields);
  Append("rpc", rpc, &fields);
  const std::string text = status.ToString();
  Append("error", text, &fields);
  Write(spdlog::level::err, "internal error", fields);
}

}  // namespace embd::observability

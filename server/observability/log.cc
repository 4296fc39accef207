#include "server/observability/log.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace embd::observability {
namespace {

spdlog::logger& Log() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto created = std::make_shared<spdlog::logger>("embd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    created->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    created->flush_on(spdlog::level::trace);
    return created;
  }();
  return *logger;
}

void Write(spdlog::level::level_enum level, absl::string_view message) {
  Log().log(level, spdlog::string_view_t(message.data(), message.size()));
}

bool IsPlain(absl::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7F && byte != '"' && byte != '=' && byte != '\\';
  });
}

// One of a line's `key=value` pairs, quoted and escaped unless the value is plain ASCII that cannot be misread.
void Append(absl::string_view key, absl::string_view value, std::string* line) {
  if (value.empty()) return;
  absl::StrAppend(line, " ", key, "=",
                  IsPlain(value) ? std::string(value) : absl::StrCat("\"", absl::CHexEscape(value), "\""));
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

void LogInfo(absl::string_view message) { Write(spdlog::level::info, message); }
void LogWarning(absl::string_view message) { Write(spdlog::level::warn, message); }
void LogError(absl::string_view message) { Write(spdlog::level::err, message); }

bool LogsRequests() { return Log().should_log(spdlog::level::debug); }

void LogRequest(const RequestLine& line) {
  if (!LogsRequests()) return;
  constexpr std::size_t kMaxNameBytes = 128;
  std::string text = "request";
  Append("rpc", line.rpc, &text);
  Append("peer", line.peer, &text);
  Append("model", line.model.substr(0, kMaxNameBytes), &text);
  if (line.batch_size >= 0)
    absl::StrAppend(&text, " batch_size=", line.batch_size, " sequence_length=", line.sequence_length);
  absl::StrAppend(&text, " request_bytes=", line.request_bytes, " reply_bytes=", line.reply_bytes,
                  " us=", line.microseconds, " code=", absl::StatusCodeToString(line.status.code()));
  if (!line.status.ok()) Append("error", line.status.message(), &text);
  Write(spdlog::level::debug, text);
}

std::string LogInternalError(const absl::Status& status) {
  static const std::int64_t started = std::chrono::system_clock::now().time_since_epoch().count();
  static std::atomic<std::int64_t> count = 0;
  const std::string reference = absl::StrCat(absl::Hex(started), "-", count.fetch_add(1) + 1);
  LogError(absl::StrCat("internal error ", reference, ": ", status.ToString()));
  return reference;
}

}  // namespace embd::observability

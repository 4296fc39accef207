#ifndef EMBD_SERVER_OBSERVABILITY_LOG_LINE_H_
#define EMBD_SERVER_OBSERVABILITY_LOG_LINE_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace embd::observability {

enum class LogFormat { kText, kJson };

/// What a line says besides its message.
struct LogField {
  absl::string_view name;  ///< a plain word
  std::variant<absl::string_view, std::int64_t> value;
};

/// One line of the log, without its end.
///
/// As text: `2026-01-31T12:00:00.123+0100 info message name=value name="a value"`, in local time; the message stands as
/// it is, values that are not plain ASCII are quoted and escaped. As JSON: one object with the members "time" (UTC),
/// "level", "message" and one for each field; bytes that are no UTF-8 become U+FFFD. Either way it is one line.
[[nodiscard]] std::string FormatLogLine(LogFormat format, absl::Time time, absl::string_view level,
                                        absl::string_view message, const std::vector<LogField>& fields);

/// `text` as a JSON string, with its quotes.
[[nodiscard]] std::string JsonString(absl::string_view text);

}  // namespace embd::observability

#endif  // EMBD_SERVER_OBSERVABILITY_LOG_LINE_H_

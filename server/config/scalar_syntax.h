#ifndef EMBD_SERVER_CONFIG_SCALAR_SYNTAX_H_
#define EMBD_SERVER_CONFIG_SCALAR_SYNTAX_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

// How single values are written. Each function takes the whole text or nothing of it.
namespace embd::config {

/// Decimal digits with an optional sign; nothing for anything else and for what does not fit.
[[nodiscard]] std::optional<std::int64_t> ParseInteger(absl::string_view text);

/// Decimal digits without a sign; nothing for anything else and for what does not fit.
[[nodiscard]] std::optional<std::uint64_t> ParseUnsigned(absl::string_view text);

/// A finite decimal number such as 5, -0.02 or 1e-5; nothing for anything else, nan and inf among them.
[[nodiscard]] std::optional<double> ParseNumber(absl::string_view text);

/// An integer, with KiB, MiB or GiB (powers of 1024) or KB, MB or GB (powers of 1000) behind it, maybe after a space;
/// nothing for anything else, negative numbers and what exceeds 2^63 - 1.
[[nodiscard]] std::optional<std::int64_t> ParseByteSize(absl::string_view text);

/// A number of seconds, or a number with ms, s, m or h behind it; nothing for anything else.
[[nodiscard]] std::optional<double> ParseSeconds(absl::string_view text);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_SCALAR_SYNTAX_H_

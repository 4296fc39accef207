#ifndef EMBD_SERVER_CONFIG_READ_OPTIONAL_H_
#define EMBD_SERVER_CONFIG_READ_OPTIONAL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/strings/string_view.h"
#include "server/config/map_reader.h"

// Values that are unset where their key is not given. Each function reports a value that is not allowed; what it
// returns then means nothing.
namespace embd::config {

[[nodiscard]] std::optional<std::int64_t> ReadOptionalInteger(MapReader& map, absl::string_view key,
                                                              IntegerRange range);

[[nodiscard]] std::optional<double> ReadOptionalNumber(MapReader& map, absl::string_view key, NumberRange range);

/// `true` or `false`, in these letters and without quotes.
[[nodiscard]] std::optional<bool> ReadOptionalBool(MapReader& map, absl::string_view key);

/// The index of the word that stands at `key`; `words` are at least two.
[[nodiscard]] std::optional<std::size_t> ReadOptionalWord(MapReader& map, absl::string_view key,
                                                          std::span<const absl::string_view> words);

/// The value of an enum whose values 0, 1 … are written as `words`.
template <typename Enum, std::size_t kCount>
[[nodiscard]] std::optional<Enum> ReadOptionalEnum(MapReader& map, absl::string_view key,
                                                   const std::array<absl::string_view, kCount>& words) {
  const auto index = ReadOptionalWord(map, key, words);
  if (!index.has_value()) return std::nullopt;
  return static_cast<Enum>(*index);
}

/// A reader of the map at `key`; nothing where the key is not given or holds the word `none`. Anything else is reported
/// as `must be none, or a map of CONTENTS`.
[[nodiscard]] std::optional<MapReader> ReadMapOrNone(MapReader& map, absl::string_view key, Section section,
                                                     absl::string_view contents);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_OPTIONAL_H_

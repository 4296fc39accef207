#ifndef EMBD_SERVER_CONFIG_TEXT_FAULT_H_
#define EMBD_SERVER_CONFIG_TEXT_FAULT_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace embd::config {

/// A byte that a text file must not hold.
struct TextFault {
  int line = 0;  ///< from 1
  std::string message;
};

/// The first byte of `text` that is no UTF-8 or is a control character other than tab, line feed and carriage return;
/// nothing where there is none.
[[nodiscard]] std::optional<TextFault> FindTextFault(absl::string_view text);

/// The length of the UTF-8 character at the beginning of `text` (not empty), or 0 where there is none: a stray or
/// missing continuation byte, an overlong form, a surrogate, or more than U+10FFFF.
[[nodiscard]] std::size_t CharacterLength(absl::string_view text);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_TEXT_FAULT_H_

#ifndef EMBD_SERVER_CONFIG_YAML_DOCUMENT_H_
#define EMBD_SERVER_CONFIG_YAML_DOCUMENT_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace embd::config {

/// The largest file that is read.
inline constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;

/// One value of a YAML document, and where it stands.
///
/// Ownership: an alias shares the node of its anchor. There are no cycles.
/// Thread safety: never changes after parsing.
struct Node {
  enum class Kind { kNothing, kScalar, kList, kMap };
  struct Entry {
    std::string key;
    int line = 0;  ///< of the key
    std::shared_ptr<const Node> value;
  };

  Kind kind = Kind::kNothing;
  int line = 0;                                    ///< from 1
  std::string text;                                ///< of a scalar
  bool quoted = false;                             ///< of a scalar: "1" and not 1
  std::vector<std::shared_ptr<const Node>> items;  ///< of a list
  std::vector<Entry> entries;                      ///< of a map, in the file's order; a key may stand there twice
};

/// Parses a text of one YAML document; an empty text gives a node of kind kNothing.
///
/// Anchors and aliases are resolved. Refused: more than kMaxFileBytes, text that is no UTF-8, control characters, tags,
/// keys that are no scalars, nesting deeper than 64, more than a million values, a second document.
///
/// Cost: linear in the text; an alias costs nothing.
/// Errors:
///   INVALID_ARGUMENT  [INVALID_CONFIG] "FILE:LINE: …", or "FILE:LINE:COLUMN: …" for bad YAML.
[[nodiscard]] absl::StatusOr<std::shared_ptr<const Node>> ParseDocument(absl::string_view text,
                                                                        const std::string& file_name);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_YAML_DOCUMENT_H_

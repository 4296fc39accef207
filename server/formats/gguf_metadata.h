#ifndef EMBD_SERVER_FORMATS_GGUF_METADATA_H_
#define EMBD_SERVER_FORMATS_GGUF_METADATA_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "server/formats/byte_cursor.h"

namespace embd::formats {

/// A value that was passed over because it is large: an array of more than 4,096 items (a tokenizer's words), or a text
/// of more than 1 MiB.
struct GgufSkipped {
  std::uint64_t count = 0;  ///< items, or bytes of the text

  friend bool operator==(const GgufSkipped&, const GgufSkipped&) = default;
};

/// One value of a GGUF file's metadata. All integer types become std::int64_t, a uint64 above 2^63 - 1 std::uint64_t;
/// both float types become double. Arrays of integers, of floats, of texts and of booleans have those items; an array
/// of uint64 with an item above 2^63 - 1 is skipped.
using GgufValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<bool>,
                               std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>, GgufSkipped>;

/// The key whose value, a uint32, says at multiples of what tensors begin.
inline constexpr char kGgufAlignmentKey[] = "general.alignment";

using GgufMetadata = std::map<std::string, GgufValue, std::less<>>;

/// Reads `count` pairs of key and value. What breaks the rules goes to `cursor.status()`: an empty key or one of more
/// than 65,535 bytes, a key twice, an unknown type, an array of arrays, a boolean but 0 and 1, text beyond the file's
/// end, and more than 64 MiB to keep.
[[nodiscard]] GgufMetadata ReadGgufMetadata(ByteCursor& cursor, std::uint64_t count);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_GGUF_METADATA_H_

#ifndef EMBD_CLIENT_CLI_FILES_NUMBER_TEXT_H_
#define EMBD_CLIENT_CLI_FILES_NUMBER_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/cli/files/tensor.h"

namespace embd::cli {

/// How numbers that are not finite are spelled.
enum class NonFinite : std::uint8_t {
  kPlain,  ///< nan, inf, -inf: as numpy.savetxt writes and C reads them
  kJson,   ///< NaN, Infinity, -Infinity: not in the JSON standard, but what Python's json writes and reads
};

/// Appends element `index` in the fewest digits that read back as the same value. A float always has a point or an
/// exponent ("1.0", "1e-05"), so that readers keep it a float; float16 and bfloat16 are written as the float32 they
/// equal.
void AppendNumber(TensorView tensor, std::size_t index, NonFinite spelling, std::string& out);

/// Reads one number and appends it to `out` as an element of `type`: kInt64, kFloat32 or kFloat64. Floats take nan, inf
/// and infinity in any case; what is too small becomes 0.
///
/// Errors:
///   INVALID_ARGUMENT  the text is no number of that type, or one outside its range; says which, without a place.
[[nodiscard]] absl::Status AppendParsed(absl::string_view text, DataType type, std::vector<std::byte>& out);

/// `text` in double quotes for a message: escaped, and cut after 40 bytes.
[[nodiscard]] std::string Quoted(absl::string_view text);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_FILES_NUMBER_TEXT_H_

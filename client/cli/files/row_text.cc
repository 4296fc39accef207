#include "client/cli/files/row_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/files/number_text.h"

namespace embd::cli {
namespace {

absl::Status RowError(std::int64_t row, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("row ", row, ": ", what));
}

// Appends the values of one row and returns how many there are.
absl::StatusOr<std::int64_t> ParseRow(absl::string_view text, std::int64_t row, DataType type,
                                      std::vector<std::byte>& out) {
  std::int64_t count = 0;
  bool comma_before = false;
  std::size_t at = 0;
  while (at < text.size()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
    } else if (text[at] == ',') {
      if (comma_before || count == 0) return RowError(row, absl::StrCat("nothing before comma ", count + 1));
      comma_before = true;
      ++at;
    } else {
      const std::size_t end = std::min(text.find_first_of(", \t\r\f\v", at), text.size());
      const absl::Status status = AppendParsed(text.substr(at, end - at), type, out);
      if (!status.ok()) return RowError(row, status.message());
      comma_before = false;
      ++count;
      at = end;
    }
  }
  if (comma_before) return RowError(row, "nothing after the last comma");
  return count;
}

absl::string_view WithoutByteOrderMark(absl::string_view text) {
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? text.substr(3) : text;
}

}  // namespace

absl::StatusOr<Tensor> ParseRows(absl::string_view text, DataType type) {
  Tensor tensor{.type = type, .shape = {0, 0}, .bytes = {}};
  for (const absl::string_view line : absl::StrSplit(WithoutByteOrderMark(text), '\n')) {
    absl::string_view rows = absl::StripAsciiWhitespace(line);
    if (!rows.empty() && rows.back() == ';') rows.remove_suffix(1);
    if (rows.empty() || rows.front() == '#') continue;
    for (const absl::string_view row : absl::StrSplit(rows, ';')) {
      const absl::StatusOr<std::int64_t> count = ParseRow(row, tensor.shape[0], type, tensor.bytes);
      if (!count.ok()) return count.status();
      if (*count == 0) return RowError(tensor.shape[0], "has no values");
      if (tensor.shape[0] == 0) tensor.shape[1] = *count;
      if (*count != tensor.shape[1]) {
        return RowError(tensor.shape[0],
                        absl::StrCat("has ", *count, *count == 1 ? " value" : " values", ", row 0 has ",
                                     tensor.shape[1], "; all rows need the same length"));
      }
      ++tensor.shape[0];
    }
  }
  if (tensor.shape[0] == 0) return absl::InvalidArgumentError("no numbers found");
  return tensor;
}

void WriteRows(TensorView tensor, char separator, std::ostream& out) {
  constexpr std::size_t kBlockBytes = 64 << 10;
  const std::size_t columns = tensor.shape.empty() ? 1 : static_cast<std::size_t>(tensor.shape.back());
  std::string block;
  for (std::size_t index = 0; index < tensor.size(); ++index) {
    AppendNumber(tensor, index, NonFinite::kPlain, block);
    block += (index + 1) % columns == 0 ? '\n' : separator;
    if (block.size() < kBlockBytes) continue;
    out << block;
    block.clear();
    if (!out) return;
  }
  out << block;
}

}  // namespace embd::cli

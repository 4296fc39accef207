#ifndef EMBD_CLIENT_CLI_FILES_FILE_ELEMENT_H_
#define EMBD_CLIENT_CLI_FILES_FILE_ELEMENT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/cli/files/tensor.h"

namespace embd::cli {

/// The elements of type `Narrow` in `bytes` as int64, which can hold each of its values.
template <typename Narrow>
[[nodiscard]] std::vector<std::byte> WidenToInt64(absl::string_view bytes) {
  const std::size_t count = bytes.size() / sizeof(Narrow);
  std::vector<std::byte> wide(count * sizeof(std::int64_t));
  for (std::size_t i = 0; i < count; ++i) {
    Narrow narrow;
    std::memcpy(&narrow, bytes.data() + i * sizeof(Narrow), sizeof(Narrow));
    const std::int64_t value{narrow};
    std::memcpy(wide.data() + i * sizeof(value), &value, sizeof(value));
  }
  return wide;
}

/// The elements as they are.
[[nodiscard]] inline std::vector<std::byte> CopyElements(absl::string_view bytes) {
  const auto* const begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

/// A type of elements as a binary format names it, and what it becomes here.
struct FileElement {
  absl::string_view name;
  std::size_t bytes = 0;  ///< of one element in the file
  DataType type = DataType::kFloat32;
  std::vector<std::byte> (*decode)(absl::string_view) = nullptr;

  /// Whether elements of `type` are written so.
  [[nodiscard]] bool Writes(DataType written) const { return written == type && decode == CopyElements; }
};

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_FILES_FILE_ELEMENT_H_

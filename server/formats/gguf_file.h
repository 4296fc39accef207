#ifndef EMBD_SERVER_FORMATS_GGUF_FILE_H_
#define EMBD_SERVER_FORMATS_GGUF_FILE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/file_reader.h"
#include "server/formats/gguf_metadata.h"
#include "server/formats/gguf_types.h"

namespace embd::formats {

/// One tensor of a GGUF file, checked: all its bytes lie inside the file.
struct GgufTensor {
  std::string name;
  const GgufType* type = nullptr;  ///< never null; static
  std::uint32_t rank = 0;          ///< at most 4
  /// As they stand in the file, innermost first: a table of V rows of width D has {D, V}. 1 from `rank` on.
  std::array<std::int64_t, 4> sizes = {1, 1, 1, 1};
  std::uint64_t offset = 0;  ///< of its first byte, from the file's start
  std::uint64_t bytes = 0;
};

/// What a GGUF file says before its data.
struct GgufFile {
  std::uint32_t version = 0;
  GgufMetadata metadata;
  std::vector<GgufTensor> tensors;  ///< in the order of the file

  /// The tensor of that name, or nullptr.
  [[nodiscard]] const GgufTensor* Find(absl::string_view name) const;
};

/// Reads the header, the metadata and the description of all tensors, and checks every rule of the format: versions 2
/// and 3 (which are laid out alike), little-endian.
///
/// Cost: time in proportion to what stands before the data; memory at most about 64 MiB of metadata and 131,072
/// tensors, however large the file's tokenizer.
/// Errors: those of `FileReader::ReadAt`, and
///   INVALID_ARGUMENT  [INVALID_FILE] a rule is broken: with the byte, or tensor or key.
///   UNIMPLEMENTED     [UNSUPPORTED_FORMAT] version 1 or one above 3, or a big-endian file.
[[nodiscard]] absl::StatusOr<GgufFile> ReadGguf(const FileReader& file);

/// The same for a path, which begins each message. Errors: also those of `FileReader::Open`, and RESOURCE_EXHAUSTED
/// [OUT_OF_MEMORY].
[[nodiscard]] absl::StatusOr<GgufFile> OpenGguf(const std::string& path);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_GGUF_FILE_H_

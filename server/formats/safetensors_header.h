#ifndef EMBD_SERVER_FORMATS_SAFETENSORS_HEADER_H_
#define EMBD_SERVER_FORMATS_SAFETENSORS_HEADER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/tensor/element_type.h"
#include "server/formats/file_reader.h"

namespace embd::formats {

/// A type that tensors of a .safetensors file may have.
struct SafetensorsType {
  absl::string_view name;                         ///< as it stands in the file, e.g. "BF16"
  std::uint64_t bits = 0;                         ///< of one element
  std::optional<core::ElementType> element_type;  ///< where tables can have it
};

/// One tensor of a .safetensors file, checked: its shape and type take just the bytes that its offsets span.
struct SafetensorsTensor {
  std::string name;
  const SafetensorsType* type = nullptr;  ///< never null; static
  std::uint64_t rank = 0;
  std::array<std::uint64_t, 6> sizes = {};  ///< the first ones of the shape, 0 from `rank` on
  std::uint64_t begin = 0;                  ///< of the data, from SafetensorsHeader::data_offset on
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t rows() const { return sizes[0]; }
  [[nodiscard]] std::uint64_t columns() const { return sizes[1]; }
};

struct SafetensorsHeader {
  std::uint64_t data_offset = 0;           ///< place of the data in the file
  std::vector<SafetensorsTensor> tensors;  ///< in the order of their data
};

/// Reads the header of `file` and checks every rule of the format, for all tensors: none of the file's bytes is
/// unaccounted for.
///
/// Cost: time and memory in proportion to the header, which has at most 100,000,000 bytes.
/// Errors: those of `FileReader::ReadAt`, and
///   INVALID_ARGUMENT  [INVALID_FILE] a rule is broken; the message has the byte, or the tensor and the field.
[[nodiscard]] absl::StatusOr<SafetensorsHeader> ReadSafetensorsHeader(const FileReader& file);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_SAFETENSORS_HEADER_H_

#ifndef EMBD_SERVER_FORMATS_GGUF_TYPES_H_
#define EMBD_SERVER_FORMATS_GGUF_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/strings/string_view.h"
#include "server/core/tensor/element_type.h"

namespace embd::formats {

/// Turns whole blocks into values: `blocks` holds as many as `out` has room for.
using GgufDecoder = void (*)(std::span<const std::byte> blocks, std::span<float> out);

/// A type that tensors of a GGUF file can have. Elements are stored in blocks, which never go across rows.
struct GgufType {
  std::uint32_t number = 0;  ///< as it stands in the file
  absl::string_view name;
  std::uint64_t block_elements = 0;         ///< 0: a number that was given up, and no file may have any more
  std::uint64_t block_bytes = 0;            ///< of one block
  std::optional<core::ElementType> stored;  ///< where tables rest in this very type
  GgufDecoder decode = nullptr;             ///< where it is decoded to float32
};

/// The type of that number, or nullptr where there is none. Static.
[[nodiscard]] const GgufType* FindGgufType(std::uint32_t number);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_GGUF_TYPES_H_

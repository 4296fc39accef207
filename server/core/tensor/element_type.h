#ifndef EMBD_SERVER_CORE_TENSOR_ELEMENT_TYPE_H_
#define EMBD_SERVER_CORE_TENSOR_ELEMENT_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/strings/string_view.h"

namespace embd::core {

/// The types in which tables rest; the first three are also the types of results.
enum class ElementType : std::uint8_t { kFloat32, kFloat16, kBFloat16, kFloat64 };

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t ElementSize(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return 4;
    case ElementType::kFloat16:
    case ElementType::kBFloat16: return 2;
    case ElementType::kFloat64: return 8;
  }
  return 0;
}

/// The largest finite value, as far as a float32 holds it: of float64 that of float32.
[[nodiscard]] constexpr float LargestFinite(ElementType type) {
  switch (type) {
    case ElementType::kFloat16: return 65504.0f;
    case ElementType::kBFloat16: return 0x1.FEp127f;
    case ElementType::kFloat32:
    case ElementType::kFloat64: return std::numeric_limits<float>::max();
  }
  return 0.0f;
}

/// The name used in messages and checksums: "float32", "float16", "bfloat16", "float64".
[[nodiscard]] constexpr absl::string_view ElementTypeName(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return "float32";
    case ElementType::kFloat16: return "float16";
    case ElementType::kBFloat16: return "bfloat16";
    case ElementType::kFloat64: return "float64";
  }
  return "";
}

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TENSOR_ELEMENT_TYPE_H_

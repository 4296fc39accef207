#ifndef EMBD_CLIENT_CLI_FILES_TENSOR_H_
#define EMBD_CLIENT_CLI_FILES_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/strings/string_view.h"

namespace embd::cli {

/// The types of elements that files and renderings know.
enum class DataType : std::uint8_t { kFloat32, kFloat16, kBFloat16, kFloat64, kInt32, kInt64 };

/// Bytes of one element.
[[nodiscard]] std::size_t ByteSize(DataType type);

/// "float32", "float16", "bfloat16", "float64", "int32", "int64".
[[nodiscard]] absl::string_view Name(DataType type);

/// Whether the type holds whole numbers only.
[[nodiscard]] bool IsInteger(DataType type);

/// The product of extents, or nothing where one is negative or the product exceeds 2^63 - 1.
[[nodiscard]] std::optional<std::int64_t> ElementCount(std::span<const std::int64_t> shape);

/// A look at a dense tensor: row-major, little-endian, without padding, of any alignment.
///
/// Promise of whoever makes one: `bytes` has exactly the size that type and shape say.
struct TensorView {
  DataType type = DataType::kFloat32;
  std::span<const std::int64_t> shape;
  std::span<const std::byte> bytes;

  [[nodiscard]] std::size_t size() const { return bytes.size() / ByteSize(type); }
};

/// A tensor that owns its bytes.
struct Tensor {
  DataType type = DataType::kFloat32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  [[nodiscard]] TensorView view() const { return {type, shape, bytes}; }
};

/// Element `index` of a tensor of float16, bfloat16 or float32, exactly.
[[nodiscard]] float FloatAt(TensorView tensor, std::size_t index);

/// Element `index` of a tensor of any float type, exactly.
[[nodiscard]] double DoubleAt(TensorView tensor, std::size_t index);

/// Element `index` of a tensor of int32 or int64.
[[nodiscard]] std::int64_t IntegerAt(TensorView tensor, std::size_t index);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_FILES_TENSOR_H_

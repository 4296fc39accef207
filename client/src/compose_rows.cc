#include "client/src/compose_rows.h"

#include <cstdint>
#include <cstring>

#include "client/src/float_bits.h"

namespace embd::client {
namespace {

// Through memcpy, which costs nothing, since addresses need not be those of a T.
template <typename T>
T Load(const std::byte* values, std::size_t i) {
  T value;
  std::memcpy(&value, values + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void Store(T value, std::byte* values, std::size_t i) {
  std::memcpy(values + i * sizeof(T), &value, sizeof(T));
}

void Add(const std::byte* token, const float* position, std::size_t dim, std::byte* out) {
  for (std::size_t d = 0; d < dim; ++d) Store(Load<float>(token, d) + position[d], out, d);
}

void Narrow(const float* values, DataType type, std::size_t count, std::byte* out) {
  if (type == DataType::kFloat16) {
    for (std::size_t i = 0; i < count; ++i) Store(FloatToHalf(values[i]), out, i);
  } else if (type == DataType::kBfloat16) {
    for (std::size_t i = 0; i < count; ++i) Store(FloatToBfloat16(values[i]), out, i);
  } else {
    std::memcpy(out, values, count * sizeof(float));
  }
}

}  // namespace

void Widen(const std::byte* values, DataType type, std::size_t count, float* out) {
  if (type == DataType::kFloat16) {
    for (std::size_t i = 0; i < count; ++i) out[i] = HalfToFloat(Load<std::uint16_t>(values, i));
  } else if (type == DataType::kBfloat16) {
    for (std::size_t i = 0; i < count; ++i) out[i] = Bfloat16ToFloat(Load<std::uint16_t>(values, i));
  } else {
    std::memcpy(out, values, count * sizeof(float));
  }
}

void RowComposer::Compose(const std::byte* token, const float* position, std::byte* out) {
  if (position == nullptr && row_type_ == output_type_) {
    std::memcpy(out, token, dim_ * static_cast<std::size_t>(DataTypeSize(row_type_)));
    return;
  }
  if (position != nullptr && row_type_ == DataType::kFloat32 && output_type_ == DataType::kFloat32) {
    Add(token, position, dim_, out);
    return;
  }
  Widen(token, row_type_, dim_, sum_.data());
  if (position != nullptr) {
    for (std::size_t d = 0; d < dim_; ++d) sum_[d] += position[d];
  }
  Narrow(sum_.data(), output_type_, dim_, out);
}

}  // namespace embd::client

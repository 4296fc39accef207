#ifndef EMBD_TESTS_SUPPORT_TABLES_H_
#define EMBD_TESTS_SUPPORT_TABLES_H_

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <cstring>
#include <random>
#include <vector>

#include "server/core/table/table.h"
#include "server/core/tensor/float_bits.h"

namespace embd::testing {

/// A table over the bytes of `elements`, whose size must be rows * dim.
template <typename T>
core::Table MakeTable(std::int64_t rows, std::int64_t dim, core::ElementType type, const std::vector<T>& elements) {
  auto storage = core::AlignedBuffer::Allocate(elements.size() * sizeof(T)).value();
  std::memcpy(storage.data(), elements.data(), storage.size());
  return core::Table::Create(rows, dim, type, std::move(storage)).value();
}

inline core::Table MakeFloatTable(std::int64_t rows, std::int64_t dim, const std::vector<float>& elements) {
  return MakeTable(rows, dim, core::ElementType::kFloat32, elements);
}

/// A table of the stored type with random values of many magnitudes, subnormals, zeros of both signs, infinities and
/// NaNs.
inline core::Table RandomTable(std::int64_t rows, std::int64_t dim, core::ElementType type, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto count = static_cast<std::size_t>(rows * dim);
  if (type == core::ElementType::kFloat64) {
    std::vector<double> elements(count);
    for (double& element : elements) {
      const double magnitude =
          std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 300) - 150);
      element = random() % 2 == 0 ? magnitude : -magnitude;
    }
    return MakeTable(rows, dim, type, elements);
  }
  if (type == core::ElementType::kFloat32) {
    std::vector<std::uint32_t> elements(count);
    for (std::uint32_t& element : elements) {
      element = static_cast<std::uint32_t>(random());
      if (random() % 2 == 0) element = (element & 0x807FFFFFu) | static_cast<std::uint32_t>(100 + random() % 50) << 23;
    }
    return MakeTable(rows, dim, type, elements);
  }
  std::vector<std::uint16_t> elements(count);
  for (std::uint16_t& element : elements) element = static_cast<std::uint16_t>(random());
  return MakeTable(rows, dim, type, elements);
}

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_TABLES_H_

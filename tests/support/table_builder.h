#ifndef EMBD_TESTS_SUPPORT_TABLE_BUILDER_H_
#define EMBD_TESTS_SUPPORT_TABLE_BUILDER_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "server/core/table/table.h"
#include "server/core/tensor/float_bits.h"

namespace embd::testing {

/// A table of `rows`, all of one length, in the stored `type`. Ends the program where there is no such table.
inline core::Table MakeTable(const std::vector<std::vector<double>>& rows,
                             core::ElementType type = core::ElementType::kFloat32) {
  const auto row_count = static_cast<std::int64_t>(rows.size());
  const auto dim = static_cast<std::int64_t>(rows.at(0).size());
  core::AlignedBuffer storage = core::AlignedBuffer::Allocate(core::TableBytes(row_count, dim, type).value()).value();
  std::byte* out = storage.data();
  const auto append = [&out](auto stored) {
    std::memcpy(out, &stored, sizeof stored);
    out += sizeof stored;
  };
  for (const std::vector<double>& row : rows) {
    for (const double value : row) {
      const auto narrow = static_cast<float>(value);
      if (type == core::ElementType::kFloat32) append(narrow);
      if (type == core::ElementType::kFloat16) append(core::FloatToHalf(narrow));
      if (type == core::ElementType::kBFloat16) append(core::FloatToBFloat16(narrow));
      if (type == core::ElementType::kFloat64) append(value);
    }
  }
  return core::Table::Create(row_count, dim, type, std::move(storage)).value();
}

/// A table over the bytes of `elements`, whose size must be rows * dim.
template <typename T>
core::Table TableOf(std::int64_t rows, std::int64_t dim, core::ElementType type, const std::vector<T>& elements) {
  auto storage = core::AlignedBuffer::Allocate(elements.size() * sizeof(T)).value();
  std::memcpy(storage.data(), elements.data(), storage.size());
  return core::Table::Create(rows, dim, type, std::move(storage)).value();
}

inline core::Table MakeFloatTable(std::int64_t rows, std::int64_t dim, const std::vector<float>& elements) {
  return TableOf(rows, dim, core::ElementType::kFloat32, elements);
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
    return TableOf(rows, dim, type, elements);
  }
  if (type == core::ElementType::kFloat32) {
    std::vector<std::uint32_t> elements(count);
    for (std::uint32_t& element : elements) {
      element = static_cast<std::uint32_t>(random());
      if (random() % 2 == 0) element = (element & 0x807FFFFFu) | static_cast<std::uint32_t>(100 + random() % 50) << 23;
    }
    return TableOf(rows, dim, type, elements);
  }
  std::vector<std::uint16_t> elements(count);
  for (std::uint16_t& element : elements) element = static_cast<std::uint16_t>(random());
  return TableOf(rows, dim, type, elements);
}

/// A table of the stored type with values drawn evenly from (-1, 1).
inline core::Table SmallTable(std::int64_t rows, std::int64_t dim, core::ElementType type, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<double>> values(static_cast<std::size_t>(rows),
                                          std::vector<double>(static_cast<std::size_t>(dim)));
  for (std::vector<double>& row : values) {
    for (double& value : row) value = static_cast<double>(random() >> 11) * 0x1p-52 - 1.0;
  }
  return MakeTable(values, type);
}

/// The elements of a float32 table, row after row.
inline std::vector<float> FloatsOf(const core::Table& table) {
  std::vector<float> values(static_cast<std::size_t>(table.element_count()));
  std::memcpy(values.data(), table.bytes().data(), table.bytes().size());
  return values;
}

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_TABLE_BUILDER_H_

#ifndef EMBD_TESTS_SUPPORT_TABLE_BUILDER_H_
#define EMBD_TESTS_SUPPORT_TABLE_BUILDER_H_

#include <cstdint>
#include <cstring>
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

/// The elements of a float32 table, row after row.
inline std::vector<float> FloatsOf(const core::Table& table) {
  std::vector<float> values(static_cast<std::size_t>(table.element_count()));
  std::memcpy(values.data(), table.bytes().data(), table.bytes().size());
  return values;
}

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_TABLE_BUILDER_H_

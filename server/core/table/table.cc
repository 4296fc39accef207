#include "server/core/table/table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/tensor/checked_math.h"

namespace embd::core {

absl::StatusOr<std::size_t> TableBytes(std::int64_t rows, std::int64_t dim, ElementType type) {
  if (rows < 1 || dim < 1) {
    return InvalidArgument("INVALID_TABLE",
                           absl::StrCat("a table needs at least 1 row and 1 column, got ", rows, " x ", dim));
  }
  const auto bytes = CheckedProduct({rows, dim, static_cast<std::int64_t>(ElementSize(type))});
  if (!bytes.has_value()) {
    return InvalidArgument("INVALID_TABLE", absl::StrCat("a table of ", rows, " x ", dim, " ", ElementTypeName(type),
                                                         " exceeds 2^63 - 1 bytes"));
  }
  return static_cast<std::size_t>(*bytes);
}

absl::StatusOr<Table> Table::Create(std::int64_t rows, std::int64_t dim, ElementType type, TableStorage storage) {
  const auto bytes = TableBytes(rows, dim, type);
  if (!bytes.ok()) return bytes.status();
  const std::span<const std::byte> stored =
      std::visit([](const auto& holder) { return std::span<const std::byte>(holder.bytes()); }, storage);
  if (stored.size() != *bytes) {
    return InvalidArgument("INVALID_TABLE", absl::StrCat("a table of ", rows, " x ", dim, " ", ElementTypeName(type),
                                                         " has ", *bytes, " bytes, got ", stored.size()));
  }
  return Table(rows, dim, type, std::move(storage), stored);
}

}  // namespace embd::core

#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_DUPLICATE_ROWS_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_DUPLICATE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/table/table.h"
#include "server/core/threads/share_out.h"

namespace embd::core {

/// Rows whose bytes equal those of an earlier row.
struct DuplicateRows {
  std::int64_t count = 0;
  std::vector<std::int64_t> first = {};  ///< the first of them, ascending
  std::vector<std::int64_t> of = {};     ///< for each of `first`, the earliest row that it equals
};

/// Finds the duplicates among the rows of a table; lists at most `max_listed`.
///
/// `hashes` has one for each row; equal rows have equal ones, and others seldom: rows of one hash are compared byte by
/// byte. `order` is room for as many numbers, whose content does not matter and is lost.
/// Cost: sorting the rows by hash, and one pass over the duplicates; memory a few hundred KiB.
///
/// Errors: those of `share`.
[[nodiscard]] absl::StatusOr<DuplicateRows> FindDuplicateRows(const Table& table, std::span<const std::uint64_t> hashes,
                                                              std::span<std::int64_t> order, std::size_t max_listed,
                                                              ShareOut share);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_DUPLICATE_ROWS_H_

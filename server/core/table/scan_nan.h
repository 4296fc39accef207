#ifndef EMBD_SERVER_CORE_TABLE_SCAN_NAN_H_
#define EMBD_SERVER_CORE_TABLE_SCAN_NAN_H_

#include <cstdint>

#include "server/core/table/table.h"

namespace embd::core {

/// The NaNs of a table.
struct NanScan {
  std::int64_t count = 0;
  std::int64_t row = 0;  ///< of the first one, in the order of the rows; 0 where there is none
  std::int64_t column = 0;
};

/// Counts the NaNs, quiet and signalling ones of either sign.
///
/// Cost: one pass at the speed of memory.
[[nodiscard]] NanScan ScanNan(const Table& table);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TABLE_SCAN_NAN_H_

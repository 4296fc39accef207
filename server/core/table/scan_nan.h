#ifndef EMBD_SERVER_CORE_TABLE_SCAN_NAN_H_
#define EMBD_SERVER_CORE_TABLE_SCAN_NAN_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/core/table/table.h"

namespace embd::core {

/// The NaNs of a table.
struct NanScan {
  std::int64_t count = 0;
  std::int64_t row = 0;  ///< of the first one, in the order of the rows; 0 where there is none
  std::int64_t column = 0;
};

/// Counts NaNs, quiet and signalling ones of either sign, in the elements of a table that come in pieces, one after the
/// other.
///
/// Cost: at the speed of memory; a piece that is in the cache costs next to nothing. Thread safety: for one thread.
class NanCounter {
 public:
  /// `dim` is the table's width.
  NanCounter(ElementType type, std::int64_t dim) : type_(type), dim_(dim) {}

  /// The next whole elements.
  void Add(std::span<const std::byte> piece);

  [[nodiscard]] const NanScan& result() const { return scan_; }

 private:
  template <typename Elements>
  void Count(std::span<const std::byte> piece);

  ElementType type_;
  std::int64_t dim_;
  std::int64_t elements_before_ = 0;  // of the piece that is counted
  NanScan scan_;
};

/// The NaNs of a whole table.
[[nodiscard]] NanScan ScanNan(const Table& table);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TABLE_SCAN_NAN_H_

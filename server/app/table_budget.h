#ifndef EMBD_SERVER_APP_TABLE_BUDGET_H_
#define EMBD_SERVER_APP_TABLE_BUDGET_H_

#include <cstdint>

#include "absl/status/status.h"

namespace embd::app {

/// What the tables of all models may take together. Memory is handed out before it is there, and a process that fills
/// more than there is gets killed; so tables are counted before they are made.
///
/// Thread safety: for one thread at a time.
class TableBudget {
 public:
  /// `limit` in bytes.
  explicit TableBudget(std::int64_t limit) : limit_(limit) {}

  /// Counts a table of so many bytes.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  [OUT_OF_MEMORY] the tables so far and this one exceed the limit; nothing is counted then.
  [[nodiscard]] absl::Status Add(std::int64_t bytes);

 private:
  const std::int64_t limit_;
  std::int64_t used_ = 0;
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_TABLE_BUDGET_H_

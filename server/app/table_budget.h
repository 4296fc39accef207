#ifndef EMBD_SERVER_APP_TABLE_BUDGET_H_
#define EMBD_SERVER_APP_TABLE_BUDGET_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"

namespace embd::app {

class TableShare;

/// What the tables of all models may take together. Memory is handed out before it is there, and a process that fills
/// more than there is gets killed; so tables are counted before they are made, each in the share of its model.
///
/// Ownership: copies are the same budget, and shares keep it alive. Thread safety: thread-safe.
class TableBudget {
 public:
  /// `limit` in bytes.
  explicit TableBudget(std::int64_t limit);

  /// A share that takes nothing yet.
  [[nodiscard]] TableShare Open() const;

  /// What all shares take now, in bytes.
  [[nodiscard]] std::int64_t taken() const;

  /// Whether a share has ended since this was asked last, so that memory may have become free.
  [[nodiscard]] bool TakeEnded() const;

 private:
  friend class TableShare;
  struct State;

  std::shared_ptr<State> state_;
};

/// What one model takes of a `TableBudget`; its end gives that back.
///
/// Ownership: movable, not copyable. Thread safety: thread-compatible; may end on any thread.
class TableShare {
 public:
  TableShare(TableShare&&) = default;
  TableShare& operator=(TableShare&&) = delete;
  ~TableShare();

  /// Counts a table of so many bytes.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  [OUT_OF_MEMORY] the tables that are there and this one exceed the limit; nothing is counted
  ///                       then.
  [[nodiscard]] absl::Status Add(std::int64_t bytes);

 private:
  friend class TableBudget;
  explicit TableShare(std::shared_ptr<TableBudget::State> budget) : budget_(std::move(budget)) {}

  std::shared_ptr<TableBudget::State> budget_;  // null once moved from
  std::int64_t bytes_ = 0;
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_TABLE_BUDGET_H_

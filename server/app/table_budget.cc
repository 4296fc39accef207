#include "server/app/table_budget.h"

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/threads/mutex.h"

namespace embd::app {

struct TableBudget::State {
  explicit State(std::int64_t bytes) : limit(bytes) {}

  const std::int64_t limit;
  core::Mutex mutex;
  std::int64_t taken ABSL_GUARDED_BY(mutex) = 0;
  bool ended ABSL_GUARDED_BY(mutex) = false;
};

TableBudget::TableBudget(std::int64_t limit) : state_(std::make_shared<State>(limit)) {}

TableShare TableBudget::Open() const { return TableShare(state_); }

std::int64_t TableBudget::taken() const {
  const core::MutexLock lock(&state_->mutex);
  return state_->taken;
}

bool TableBudget::TakeEnded() const {
  const core::MutexLock lock(&state_->mutex);
  return std::exchange(state_->ended, false);
}

TableShare::~TableShare() {
  if (budget_ == nullptr) return;
  const core::MutexLock lock(&budget_->mutex);
  budget_->taken -= bytes_;
  budget_->ended = true;
}

absl::Status TableShare::Add(std::int64_t bytes) {
  const core::MutexLock lock(&budget_->mutex);
  if (bytes > budget_->limit - budget_->taken) {
    return core::Error(absl::StatusCode::kResourceExhausted, "OUT_OF_MEMORY",
                       absl::StrCat("its table needs ", bytes, " bytes and those that are there take ", budget_->taken,
                                    "; tables of this process may take ", budget_->limit));
  }
  budget_->taken += bytes;
  bytes_ += bytes;
  return absl::OkStatus();
}

}  // namespace embd::app

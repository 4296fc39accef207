#include "server/app/table_budget.h"

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::app {

absl::Status TableBudget::Add(std::int64_t bytes) {
  if (bytes > limit_ - used_) {
    return core::Error(absl::StatusCode::kResourceExhausted, "OUT_OF_MEMORY",
                       absl::StrCat("its table needs ", bytes, " bytes and those before it take ", used_,
                                    "; this process may use ", limit_));
  }
  used_ += bytes;
  return absl::OkStatus();
}

}  // namespace embd::app

#include "server/service/overload.h"

#include <cstdint>
#include <new>

#include "absl/strings/str_cat.h"
#include "proto/wire/status.h"
#include "server/core/error.h"

namespace embd::service {
namespace {

constexpr std::int64_t kRetryAfterMs = 50;

}  // namespace

absl::Status Overloaded(absl::string_view message) {
  absl::Status status = core::Error(absl::StatusCode::kResourceExhausted, "OVERLOADED",
                                    absl::StrCat(message, "; try again in ", kRetryAfterMs, " ms"));
  wire::SetRetryAfterMs(&status, kRetryAfterMs);
  return status;
}

absl::Status WithinMemory(absl::FunctionRef<absl::Status()> work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Overloaded("the server has no memory left for this request now");
  }
}

}  // namespace embd::service

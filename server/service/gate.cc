#include "server/service/gate.h"

#include "absl/strings/str_cat.h"
#include "server/service/overload.h"

namespace embd::service {

absl::Status Gate::Enter(Method method, const grpc::CallbackServerContext& context, std::int64_t request_bytes) {
  counts_.CountStart(method);
  if (absl::Status status = access_.Check(method, context); !status.ok()) return status;
  const std::int64_t calls = calls_.fetch_add(1) + 1;
  const std::int64_t bytes = request_bytes_.fetch_add(request_bytes) + request_bytes;
  absl::Status status;
  if (calls > limits_.max_calls) {
    status = Overloaded(
        absl::StrCat("more calls are under way than max_concurrent_calls ", limits_.max_calls, " of this server"));
  } else if (bytes > limits_.max_request_bytes && bytes > request_bytes) {  // one alone always may
    status = Overloaded(absl::StrCat("requests under way and this one have ", bytes,
                                     " bytes, which exceeds max_request_bytes_in_flight ", limits_.max_request_bytes,
                                     " of this server"));
  }
  if (!status.ok()) Leave(request_bytes);
  return status;
}

void Gate::Leave(std::int64_t request_bytes) {
  calls_.fetch_sub(1);
  request_bytes_.fetch_sub(request_bytes);
}

}  // namespace embd::service

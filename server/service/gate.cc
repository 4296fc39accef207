#include "server/service/gate.h"

#include "absl/strings/str_cat.h"
#include "server/service/overload.h"

namespace embd::service {

absl::Status Gate::Enter(Method method, const grpc::CallbackServerContext& context) {
  counts_.CountStart(method);
  return access_.Check(method, context);
}

absl::Status Gate::TakeRoom(std::int64_t request_bytes) {
  absl::Status status;
  if (calls_.fetch_add(1) >= limits_.max_calls) {
    status = Overloaded(
        absl::StrCat("more calls are under way than max_concurrent_calls ", limits_.max_calls, " of this server"));
  } else {
    status = AddBytes(request_bytes, /*own=*/0);
  }
  if (!status.ok()) calls_.fetch_sub(1);
  return status;
}

absl::Status Gate::AddBytes(std::int64_t bytes, std::int64_t own) {
  const std::int64_t sum = request_bytes_.fetch_add(bytes) + bytes;
  if (sum <= limits_.max_request_bytes || sum <= own + bytes) return absl::OkStatus();
  RemoveBytes(bytes);
  return Overloaded(absl::StrCat("requests under way and this one take ", sum,
                                 " bytes, which exceeds max_request_bytes_in_flight ", limits_.max_request_bytes,
                                 " of this server"));
}

void Gate::GiveBackRoom(std::int64_t request_bytes) {
  calls_.fetch_sub(1);
  request_bytes_.fetch_sub(request_bytes);
}

}  // namespace embd::service

// Hot path: no lock that another request holds for long, no allocation per row, no log line above debug.
#include "server/service/embed_target.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/service/embed_answer.h"
#include "server/service/region_access.h"

namespace embd::service {
namespace {

constexpr std::int64_t kOffsetStep = 64;  // of what the kernels write past the caches

absl::Status CheckExtent(const v1::SharedMemoryTarget& target, std::int64_t result_bytes, std::int64_t region_bytes) {
  const auto refuse = [](const auto&... parts) {
    return core::InvalidArgument("INVALID_OPTION", absl::StrCat("output_target.", parts...));
  };
  if (target.offset() < 0 || target.offset() % kOffsetStep != 0) {
    return refuse("offset must be at least 0 and a multiple of ", kOffsetStep, ", got ", target.offset());
  }
  if (target.byte_size() < result_bytes) {
    return refuse("byte_size is ", target.byte_size(), ", but the result has ", result_bytes, " bytes");
  }
  if (target.offset() > region_bytes || target.byte_size() > region_bytes - target.offset()) {
    return refuse("byte_size ", target.byte_size(), " from offset ", target.offset(),
                  " on goes past the end of region ", core::Quote(target.region()), ", which has ", region_bytes,
                  " bytes");
  }
  return absl::OkStatus();
}

absl::Status CheckUndamaged(const EmbedTarget& target) {
  if (!target.memory->damaged()) return absl::OkStatus();
  return core::Error(absl::StatusCode::kFailedPrecondition, "REGION_DAMAGED",
                     absl::StrCat("the file of region ", core::Quote(target.written.region()),
                                  " was cut short, or has lost its memory; unregister it and register another"));
}

}  // namespace

absl::StatusOr<std::optional<EmbedTarget>> FindTarget(const Backend& backend, const Call& call,
                                                      const v1::EmbedRequest& request, const core::EmbedPlan& plan) {
  if (!request.has_output_target()) return std::nullopt;
  if (absl::Status status = CheckMayUseRegions(backend, call); !status.ok()) return status;
  const v1::SharedMemoryTarget& wanted = request.output_target();
  auto memory = backend.regions.Find(wanted.region());
  if (!memory.ok()) return memory.status();
  const std::span<std::byte> bytes = (*memory)->bytes();
  absl::Status status =
      CheckExtent(wanted, static_cast<std::int64_t>(plan.byte_size()), static_cast<std::int64_t>(bytes.size()));
  if (!status.ok()) return status;
  EmbedTarget target = {.memory = *std::move(memory),
                        .out = bytes.subspan(static_cast<std::size_t>(wanted.offset()), plan.byte_size()),
                        .written = wanted};
  target.written.set_byte_size(static_cast<std::int64_t>(plan.byte_size()));
  if (status = CheckUndamaged(target); !status.ok()) return status;
  return target;
}

absl::Status ComposeToTarget(Backend& backend, const core::EmbedPlan& plan, const EmbedTarget& target,
                             absl::FunctionRef<absl::Status()> interrupted) {
  if (absl::Status status = interrupted(); !status.ok()) return status;
  const core::Stores stores =
      target.out.size() >= core::kStreamingBytes ? core::Stores::kStreaming : core::Stores::kCached;
  absl::Status status = ComposeInto(backend, plan, 0, plan.row_count(), target.out, stores, interrupted);
  if (!status.ok()) return status;
  return CheckUndamaged(target);
}

v1::EmbedResponse TargetReply(const core::EmbedPlan& plan, const EmbedTarget& target) {
  v1::EmbedResponse response = ResponseWithoutData(plan);
  *response.mutable_written() = target.written;
  return response;
}

}  // namespace embd::service

#ifndef EMBD_SERVER_OIP_REGION_CALLS_H_
#define EMBD_SERVER_OIP_REGION_CALLS_H_

#include "absl/status/statusor.h"
#include "inference/grpc_service.pb.h"
#include "server/service/backend.h"
#include "server/service/call.h"

// The calls about regions of shared memory, over those of embd.v1.AdminService; errors are described in
// grpc_service.proto. A key is what shm_open takes: the name of a file in /dev/shm.
namespace embd::oip {

[[nodiscard]] absl::StatusOr<::inference::SystemSharedMemoryStatusResponse> AnswerRegionStatus(
    const service::Backend& backend, const service::Call& call,
    const ::inference::SystemSharedMemoryStatusRequest& request);

[[nodiscard]] absl::StatusOr<::inference::SystemSharedMemoryRegisterResponse> AnswerRegister(
    service::Backend& backend, const service::Call& call,
    const ::inference::SystemSharedMemoryRegisterRequest& request);

[[nodiscard]] absl::StatusOr<::inference::SystemSharedMemoryUnregisterResponse> AnswerUnregister(
    service::Backend& backend, const service::Call& call,
    const ::inference::SystemSharedMemoryUnregisterRequest& request);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_REGION_CALLS_H_

#ifndef EMBD_CLIENT_SRC_HEALTH_H_
#define EMBD_CLIENT_SRC_HEALTH_H_

#include <string>

#include "absl/status/statusor.h"
#include "embd/client/enums.h"
#include "grpcpp/support/byte_buffer.h"

// The messages of grpc.health.v1.Health. They are written and read field by field: a second definition of them would
// clash with that of a program that has them.
namespace embd::client {

inline constexpr char kHealthCheckMethod[] = "/grpc.health.v1.Health/Check";

/// A HealthCheckRequest.
[[nodiscard]] grpc::ByteBuffer HealthRequest(const std::string& service);

/// What a HealthCheckResponse says.
///
/// Errors:
///   INTERNAL  the bytes are no such message.
[[nodiscard]] absl::StatusOr<HealthStatus> ReadHealthReply(grpc::ByteBuffer* bytes);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_HEALTH_H_

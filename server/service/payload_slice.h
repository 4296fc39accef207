#ifndef EMBD_SERVER_SERVICE_PAYLOAD_SLICE_H_
#define EMBD_SERVER_SERVICE_PAYLOAD_SLICE_H_

#include "grpcpp/support/slice.h"
#include "server/service/reply_buffers.h"

namespace embd::service {

/// A slice over the buffer itself, which goes back to its pool when gRPC lets the slice go.
[[nodiscard]] grpc::Slice PayloadSlice(ReplyBuffer buffer);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_PAYLOAD_SLICE_H_

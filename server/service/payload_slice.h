#ifndef EMBD_SERVER_SERVICE_PAYLOAD_SLICE_H_
#define EMBD_SERVER_SERVICE_PAYLOAD_SLICE_H_

#include <cstddef>
#include <memory>

#include "grpcpp/support/slice.h"
#include "server/service/reply_buffers.h"

namespace embd::service {

/// A slice over the buffer itself, which goes back to its pool when gRPC lets the slice go.
[[nodiscard]] grpc::Slice PayloadSlice(ReplyBuffer buffer);

/// A buffer that several slices show parts of; it goes back to its pool when gRPC has let all of them go.
class SharedPayload {
 public:
  explicit SharedPayload(ReplyBuffer buffer);

  /// Bytes [offset, offset + size) of the buffer.
  [[nodiscard]] grpc::Slice Slice(std::size_t offset, std::size_t size) const;

 private:
  std::shared_ptr<ReplyBuffer> buffer_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_PAYLOAD_SLICE_H_

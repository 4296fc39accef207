#include "server/service/payload_slice.h"

#include <utility>

namespace embd::service {

grpc::Slice PayloadSlice(ReplyBuffer buffer) {
  auto* const lease = new ReplyBuffer(std::move(buffer));
  return {lease->bytes().data(), lease->bytes().size(), [](void* held) { delete static_cast<ReplyBuffer*>(held); },
          lease};
}

}  // namespace embd::service

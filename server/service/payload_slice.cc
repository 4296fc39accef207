#include "server/service/payload_slice.h"

#include <utility>

namespace embd::service {

grpc::Slice PayloadSlice(ReplyBuffer buffer) {
  auto* const lease = new ReplyBuffer(std::move(buffer));
  return {lease->bytes().data(), lease->bytes().size(), [](void* held) { delete static_cast<ReplyBuffer*>(held); },
          lease};
}

SharedPayload::SharedPayload(ReplyBuffer buffer) : buffer_(std::make_shared<ReplyBuffer>(std::move(buffer))) {}

grpc::Slice SharedPayload::Slice(std::size_t offset, std::size_t size) const {
  auto* const lease = new std::shared_ptr<ReplyBuffer>(buffer_);
  return {buffer_->bytes().data() + offset, size,
          [](void* held) { delete static_cast<std::shared_ptr<ReplyBuffer>*>(held); }, lease};
}

}  // namespace embd::service

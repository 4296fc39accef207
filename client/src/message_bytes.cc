#include "client/src/message_bytes.h"

#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "grpcpp/support/slice.h"

namespace embd::client {

absl::StatusOr<grpc::ByteBuffer> ToBytes(const google::protobuf::MessageLite& message) {
  const std::size_t size = message.ByteSizeLong();
  if (size > std::numeric_limits<int>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the request takes ", size, " bytes; a message has at most ", std::numeric_limits<int>::max()));
  }
  grpc::Slice slice(size);
  // The size has just been computed, which is what makes the cached one right; a slice that was just made is not
  // shared.
  message.SerializeWithCachedSizesToArray(const_cast<std::uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

absl::Status FromBytes(grpc::ByteBuffer* bytes, google::protobuf::MessageLite* message) {
  if (!bytes->Valid()) return absl::InternalError("the server's reply makes no sense: it has no message");
  grpc::ProtoBufferReader reader(bytes);
  if (!message->ParseFromZeroCopyStream(&reader)) {
    return absl::InternalError(
        absl::StrCat("the server's reply makes no sense: its bytes are no ", message->GetTypeName()));
  }
  return absl::OkStatus();
}

}  // namespace embd::client

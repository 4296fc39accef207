#include "client/src/message_bytes.h"

#include <cstdint>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "grpcpp/support/slice.h"

namespace embd::client {
namespace {

absl::Status CheckSize(std::size_t size) {
  if (size <= std::numeric_limits<int>::max()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the request takes ", size, " bytes; a message has at most ", std::numeric_limits<int>::max()));
}

// Of a slice that was just made, and so is not shared.
std::uint8_t* Writable(const grpc::Slice& slice) { return const_cast<std::uint8_t*>(slice.begin()); }

}  // namespace

absl::StatusOr<grpc::ByteBuffer> ToBytes(const google::protobuf::MessageLite& message) {
  const std::size_t size = message.ByteSizeLong();
  if (absl::Status status = CheckSize(size); !status.ok()) return status;
  grpc::Slice slice(size);
  // The size has just been computed, which is what makes the cached one right.
  message.SerializeWithCachedSizesToArray(Writable(slice));
  return grpc::ByteBuffer(&slice, 1);
}

absl::StatusOr<grpc::ByteBuffer> JoinBytes(const std::string& header, std::span<const std::byte> payload) {
  if (absl::Status status = CheckSize(header.size() + payload.size()); !status.ok()) return status;
  grpc::Slice slice(header.size() + payload.size());
  std::memcpy(Writable(slice), header.data(), header.size());
  if (!payload.empty()) std::memcpy(Writable(slice) + header.size(), payload.data(), payload.size());
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

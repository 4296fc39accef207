#include "client/src/embed_delivery.h"

#include <new>

#include "absl/strings/str_cat.h"
#include "client/src/convert.h"
#include "proto/wire/embed_reply.h"

namespace embd::client {

namespace {

bool Fits(const std::optional<SharedMemoryTarget>& written, const std::optional<SharedMemoryTarget>& target) {
  if (!written.has_value() || !target.has_value()) return written.has_value() == target.has_value();
  return written->region == target->region && written->offset == target->offset &&
         written->byte_size <= target->byte_size;
}

}  // namespace

absl::StatusOr<EmbedInfo> Deliver(grpc::ByteBuffer* reply, const std::optional<SharedMemoryTarget>& target,
                                  ReplySink* sink) {
  const auto read = wire::ReadEmbedReply(reply);
  if (!read.ok()) return read.status();
  EmbedInfo info = FromProto(read->response);
  if (!Fits(info.written, target)) return wire::Senseless("it says that the tensor was written somewhere else");
  if (absl::Status status = sink->Begin(info, read->payload.size); !status.ok()) return status;
  if (absl::Status status = sink->Take(reply, read->payload); !status.ok()) return status;
  return info;
}

absl::StatusOr<std::unique_ptr<std::byte[]>> Allocate(std::size_t byte_size) {
  std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[byte_size]);
  if (memory == nullptr) return absl::ResourceExhaustedError(absl::StrCat("no memory for ", byte_size, " bytes"));
  return memory;
}

}  // namespace embd::client

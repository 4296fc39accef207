#include "proto/wire/embed_reply.h"

#include <array>

namespace embd::wire {
namespace {

// The elements: here, or as the server says that it wrote them elsewhere.
Payload ElementsOf(const v1::EmbedResponse& response, const Payload& payload) {
  if (!response.has_written() || payload.size > 0) return payload;
  return {.offset = 0, .size = static_cast<std::size_t>(response.written().byte_size())};
}

}  // namespace

absl::StatusOr<EmbedReply> ReadEmbedReply(grpc::ByteBuffer* bytes) {
  std::array<Level, 2> levels = {Level{.field = v1::EmbedResponse::kEmbeddingsFieldNumber},
                                 Level{.field = v1::Tensor::kDataFieldNumber}};
  EmbedReply reply;
  if (absl::Status status = ScanAll(bytes, levels, &reply.payload); !status.ok()) return status;
  if (!reply.response.ParseFromString(levels[0].others)) return Senseless("its fields cannot be read");
  absl::Status status =
      ReadTensor(levels[1], ElementsOf(reply.response, reply.payload), reply.response.mutable_embeddings());
  if (!status.ok()) return status;
  return reply;
}

absl::StatusOr<StreamReply> ReadStreamReply(grpc::ByteBuffer* bytes) {
  std::array<Level, 3> levels = {Level{.field = v1::EmbedStreamResponse::kResponseFieldNumber},
                                 Level{.field = v1::EmbedResponse::kEmbeddingsFieldNumber},
                                 Level{.field = v1::Tensor::kDataFieldNumber}};
  StreamReply reply;
  if (absl::Status status = ScanAll(bytes, levels, &reply.payload); !status.ok()) return status;
  if (!reply.item.ParseFromString(levels[0].others)) return Senseless("its fields cannot be read");
  if (reply.item.has_error() == levels[0].found) return Senseless("it is not one of error and response");
  if (reply.item.has_error()) return reply;
  v1::EmbedResponse* const response = reply.item.mutable_response();
  if (!response->ParseFromString(levels[1].others)) return Senseless("its response cannot be read");
  absl::Status status = ReadTensor(levels[2], ElementsOf(*response, reply.payload), response->mutable_embeddings());
  if (!status.ok()) return status;
  return reply;
}

}  // namespace embd::wire

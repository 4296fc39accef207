#include "proto/wire/embed_reply.h"

#include <array>

namespace embd::wire {

absl::StatusOr<EmbedReply> ReadEmbedReply(grpc::ByteBuffer* bytes) {
  std::array<Level, 2> levels = {Level{.field = v1::EmbedResponse::kEmbeddingsFieldNumber},
                                 Level{.field = v1::Tensor::kDataFieldNumber}};
  EmbedReply reply;
  if (absl::Status status = ScanAll(bytes, levels, &reply.payload); !status.ok()) return status;
  if (!reply.response.ParseFromString(levels[0].others)) return Senseless("its fields cannot be read");
  if (absl::Status status = ReadTensor(levels[1], reply.payload, reply.response.mutable_embeddings()); !status.ok())
    return status;
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
  if (absl::Status status = ReadTensor(levels[2], reply.payload, response->mutable_embeddings()); !status.ok())
    return status;
  return reply;
}

}  // namespace embd::wire

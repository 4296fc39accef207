#include "proto/wire/rotate_reply.h"

#include <array>

namespace embd::wire {

absl::StatusOr<RotateReply> ReadRotateReply(grpc::ByteBuffer* bytes) {
  std::array<Level, 2> levels = {Level{.field = v1::RotateResponse::kVectorsFieldNumber},
                                 Level{.field = v1::Tensor::kDataFieldNumber}};
  RotateReply reply;
  if (absl::Status status = ScanAll(bytes, levels, &reply.payload); !status.ok()) return status;
  if (!reply.response.ParseFromString(levels[0].others)) return Senseless("its fields cannot be read");
  absl::Status status = ReadTensor(levels[1], reply.payload, reply.response.mutable_vectors());
  if (!status.ok()) return status;
  return reply;
}

}  // namespace embd::wire

#ifndef EMBD_PROTO_WIRE_PAYLOAD_SCAN_H_
#define EMBD_PROTO_WIRE_PAYLOAD_SCAN_H_

#include <cstddef>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "embd/v1/tensor.pb.h"
#include "grpcpp/support/byte_buffer.h"

// Finds the elements of a reply's tensor without copying them; what the readers of replies share.
//
// Hostile bytes: nothing outside the buffer is read, and nothing is allocated that is larger than the buffer.
namespace embd::wire {

/// Where in the bytes of a reply the elements of its tensor stand.
struct Payload {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// A message on the way to the payload: the field that leads on, whether it was there, and the encoding of all its
/// other fields.
struct Level {
  int field;
  bool found = false;
  std::string others = {};
};

/// Reads the message of `levels`, outermost first; the field of the last one is the payload. The last payload wins, as
/// protobuf has it for fields that are given twice. `bytes` is left as it is. Cost: one pass over the slices.
///
/// Errors:
///   INTERNAL  the bytes are no such message.
[[nodiscard]] absl::Status ScanAll(grpc::ByteBuffer* bytes, std::span<Level> levels, Payload* payload);

/// Reads the fields of the tensor whose level is `level`.
///
/// Errors:
///   INTERNAL  it has no known type, a negative extent, or another size than its shape says.
[[nodiscard]] absl::Status ReadTensor(const Level& level, const Payload& payload, v1::Tensor* tensor);

/// INTERNAL: "the server's reply makes no sense: …".
[[nodiscard]] absl::Status Senseless(absl::string_view why);

/// Copies the elements to `out`, whose size is `payload.size`. `bytes` is left as it is.
///
/// Errors:
///   INTERNAL  `payload` is not within `bytes`, or `out` has another size; what is in `out` is unspecified then.
[[nodiscard]] absl::Status CopyPayload(grpc::ByteBuffer* bytes, const Payload& payload, std::span<std::byte> out);

/// Shows the elements where they stand, piece after piece as the slices have them, none empty. What `visit` says other
/// than OK ends it.
///
/// Errors:
///   INTERNAL  `payload` is not within `bytes`.
///   Besides those of `visit`.
[[nodiscard]] absl::Status VisitPayload(grpc::ByteBuffer* bytes, const Payload& payload,
                                        absl::FunctionRef<absl::Status(std::span<const std::byte>)> visit);

}  // namespace embd::wire

#endif  // EMBD_PROTO_WIRE_PAYLOAD_SCAN_H_

#ifndef EMBD_SERVER_SERVICE_DECODED_BYTES_H_
#define EMBD_SERVER_SERVICE_DECODED_BYTES_H_

#include <cstdint>

#include "google/protobuf/descriptor.h"
#include "grpcpp/support/byte_buffer.h"

namespace embd::service {

/// How much memory a message of that type at most takes once it is decoded from `bytes`, without decoding it. Two bytes
/// of a message may become an object of hundreds: a request must be counted as what it becomes.
///
/// Of bytes that are no such message: what is allocated until that is found out. Cost: one pass over the fields'
/// tags; the contents of long ones are skipped, but for varints, which are counted.
[[nodiscard]] std::int64_t DecodedBytes(const grpc::ByteBuffer& bytes, const google::protobuf::Descriptor& type);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_DECODED_BYTES_H_

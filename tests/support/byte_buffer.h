#ifndef EMBD_TESTS_SUPPORT_BYTE_BUFFER_H_
#define EMBD_TESTS_SUPPORT_BYTE_BUFFER_H_

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "grpcpp/support/byte_buffer.h"

// Messages as the bytes that they are on the wire.
namespace embd::testing {

inline grpc::ByteBuffer ToBuffer(absl::string_view bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  return {&slice, 1};
}

inline std::string ToBytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) std::abort();
  std::string bytes;
  for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_BYTE_BUFFER_H_

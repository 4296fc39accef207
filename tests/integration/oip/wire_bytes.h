#ifndef EMBD_TESTS_INTEGRATION_OIP_WIRE_BYTES_H_
#define EMBD_TESTS_INTEGRATION_OIP_WIRE_BYTES_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "proto/wire/status.h"

// Messages made by hand, and calls that send them as they are.
namespace embd::testing {

inline constexpr char kModelInfer[] = "/inference.GRPCInferenceService/ModelInfer";

inline std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>((value & 0x7F) | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

inline std::string VarintField(int number, std::uint64_t value) {
  return Varint(static_cast<std::uint64_t>(number) << 3) + Varint(value);
}

inline std::string BytesField(int number, const std::string& value) {
  return Varint(static_cast<std::uint64_t>(number) << 3 | 2) + Varint(value.size()) + value;
}

/// Calls `method` with the message; `reply` gets the reply's slices. A call that is not over after a minute ends with
/// DEADLINE_EXCEEDED.
inline absl::Status CallRaw(const std::shared_ptr<grpc::Channel>& channel, const char* method,
                            const grpc::ByteBuffer& request, std::vector<grpc::Slice>* reply) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(1));
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
  grpc::ByteBuffer buffer;
  grpc::Status status;
  call->StartCall();
  call->Finish(&buffer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  if (!status.ok()) return wire::FromGrpcStatus(status);
  return wire::FromGrpcStatus(buffer.Dump(reply));
}

/// The same with strings.
inline absl::StatusOr<std::string> CallRaw(const std::shared_ptr<grpc::Channel>& channel, const char* method,
                                           const std::string& request) {
  const grpc::Slice slice(request);
  std::vector<grpc::Slice> slices;
  absl::Status status = CallRaw(channel, method, grpc::ByteBuffer(&slice, 1), &slices);
  if (!status.ok()) return status;
  std::string bytes;
  for (const grpc::Slice& each : slices) bytes.append(reinterpret_cast<const char*>(each.begin()), each.size());
  return bytes;
}

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_OIP_WIRE_BYTES_H_

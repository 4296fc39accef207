#ifndef EMBD_TESTS_SUPPORT_HEALTH_WATCH_H_
#define EMBD_TESTS_SUPPORT_HEALTH_WATCH_H_

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

namespace embd::testing {

/// A Watch of the standard health service, of the server as a whole.
class HealthWatch {
 public:
  /// HealthCheckResponse.status, as protobuf writes it.
  static constexpr char kServing[] = "\x08\x01";
  static constexpr char kNotServing[] = "\x08\x02";

  explicit HealthWatch(const std::string& address)
      : stub_(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())),
        call_(stub_.PrepareCall(&context_, "/grpc.health.v1.Health/Watch", &queue_)) {
    const grpc::Slice nothing;
    call_->StartCall(nullptr);
    Await();
    call_->WriteLast(grpc::ByteBuffer(&nothing, 1), {}, nullptr);
    Await();
  }
  ~HealthWatch() {
    context_.TryCancel();
    grpc::Status status;
    call_->Finish(&status, nullptr);
    Await();
    queue_.Shutdown();
    while (Await()) {
    }
  }

  /// The next status; waits for it.
  std::string Next() {
    grpc::ByteBuffer reply;
    call_->Read(&reply, nullptr);
    if (!Await()) return "the watch has ended";
    std::vector<grpc::Slice> slices;
    EXPECT_TRUE(reply.Dump(&slices).ok());
    std::string bytes;
    for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    return bytes;
  }

 private:
  bool Await() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_HEALTH_WATCH_H_

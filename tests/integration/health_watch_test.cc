// The standard health service as an orchestrator watches it.

#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using ::embd::testing::IsOk;

// HealthCheckResponse.status, as protobuf writes it.
constexpr char kServing[] = "\x08\x01";
constexpr char kNotServing[] = "\x08\x02";

// A Watch of the server as a whole.
class Watch {
 public:
  explicit Watch(const std::string& address)
      : stub_(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())),
        call_(stub_.PrepareCall(&context_, "/grpc.health.v1.Health/Watch", &queue_)) {
    const grpc::Slice nothing;
    call_->StartCall(nullptr);
    Await();
    call_->WriteLast(grpc::ByteBuffer(&nothing, 1), {}, nullptr);
    Await();
  }
  ~Watch() {
    context_.TryCancel();
    grpc::Status status;
    call_->Finish(&status, nullptr);
    Await();
    queue_.Shutdown();
    while (Await()) {
    }
  }

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

TEST(HealthWatch, SeesNotServingWhileCallsAreDrained) {
  config::ServerConfig config;
  config.models = {testing::SmallModel("tiny", 10, 4, 8)};
  testing::ServedModels served(config);
  auto stream = served.TcpClient().OpenStream({.timeout = absl::Seconds(20)});
  ASSERT_THAT(stream, IsOk());
  ASSERT_THAT(stream->Send({.model = "tiny", .ids = {1}, .batch_size = 1, .sequence_length = 1}), IsOk());
  ASSERT_THAT(stream->Receive(), IsOk());
  std::thread stopping;
  {
    Watch watch(served.tcp_address());
    EXPECT_EQ(watch.Next(), kServing);

    stopping = std::thread([&] { served.server().Shutdown(absl::Seconds(20)); });

    EXPECT_EQ(watch.Next(), kNotServing);
  }
  EXPECT_THAT(stream->CloseSending(), IsOk());
  EXPECT_FALSE(stream->Receive()->has_value()) << "the call in flight could end in peace";
  stopping.join();
}

}  // namespace
}  // namespace embd

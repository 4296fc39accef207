// Inputs and outputs in regions of shared memory, by the calls of the Open Inference Protocol.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "inference/grpc_service.grpc.pb.h"
#include "proto/wire/status.h"
#include "tests/integration/oip/infer_request.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Stub = ::inference::GRPCInferenceService::Stub;

constexpr std::int64_t kBytes = 8192;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// A file of zeros in /dev/shm, mapped here too; gone at the end.
class SharedFile {
 public:
  SharedFile(const std::string& key, std::int64_t byte_size) : key_(key) {
    const int descriptor = shm_open(key.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
    if (descriptor < 0 || ftruncate(descriptor, byte_size) != 0) std::abort();
    bytes_ = static_cast<char*>(
        mmap(nullptr, static_cast<std::size_t>(byte_size), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    close(descriptor);
    size_ = static_cast<std::size_t>(byte_size);
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() {
    munmap(bytes_, size_);
    shm_unlink(key_.c_str());
  }

  [[nodiscard]] char* bytes() { return bytes_; }
  [[nodiscard]] std::string Bytes(std::int64_t offset, std::size_t size) const { return {bytes_ + offset, size}; }
  void Write(std::int64_t offset, const std::string& data) { std::memcpy(bytes_ + offset, data.data(), data.size()); }

 private:
  const std::string key_;
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// A server of the model "tiny", 10 rows of width 4, with regions under a prefix of its own; by Unix socket.
class OipSharedMemory : public ::testing::Test {
 protected:
  OipSharedMemory() : file_(key(), kBytes), served_(Config()), stub_(NewStub(served_.unix_address())) {}

  static std::string key() { return absl::StrCat("/embd-oip-test-", getpid()); }

  static config::ServerConfig Config() {
    config::ServerConfig config;
    config.models = {SmallModel("tiny", 10, 4, 8)};
    config.shared_memory = config::SharedMemory{.prefix = "/dev/shm" + key(), .max_regions = 4, .max_bytes = 64 << 20};
    return config;
  }

  static std::unique_ptr<Stub> NewStub(const std::string& address) {
    return ::inference::GRPCInferenceService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  }

  absl::Status Register(const std::string& name, std::uint64_t offset, std::uint64_t byte_size) {
    return RegisterBy(stub_.get(), name, offset, byte_size);
  }
  static absl::Status RegisterBy(Stub* stub, const std::string& name, std::uint64_t offset, std::uint64_t byte_size) {
    grpc::ClientContext context;
    ::inference::SystemSharedMemoryRegisterRequest request;
    request.set_name(name);
    request.set_key(key());
    request.set_offset(offset);
    request.set_byte_size(byte_size);
    ::inference::SystemSharedMemoryRegisterResponse response;
    return wire::FromGrpcStatus(stub->SystemSharedMemoryRegister(&context, request, &response));
  }
  absl::Status Unregister(const std::string& name) {
    grpc::ClientContext context;
    ::inference::SystemSharedMemoryUnregisterRequest request;
    request.set_name(name);
    ::inference::SystemSharedMemoryUnregisterResponse response;
    return wire::FromGrpcStatus(stub_->SystemSharedMemoryUnregister(&context, request, &response));
  }
  absl::StatusOr<::inference::SystemSharedMemoryStatusResponse> Status(const std::string& name) {
    grpc::ClientContext context;
    ::inference::SystemSharedMemoryStatusRequest request;
    request.set_name(name);
    ::inference::SystemSharedMemoryStatusResponse response;
    const grpc::Status status = stub_->SystemSharedMemoryStatus(&context, request, &response);
    if (!status.ok()) return wire::FromGrpcStatus(status);
    return response;
  }
  absl::StatusOr<InferResponse> Infer(const InferRequest& request) {
    grpc::ClientContext context;
    InferResponse response;
    const grpc::Status status = stub_->ModelInfer(&context, request, &response);
    if (!status.ok()) return wire::FromGrpcStatus(status);
    return response;
  }
  [[nodiscard]] std::string Expected() {
    const auto plain = Infer(IdsRequest());
    return plain.ok() ? plain->raw_output_contents(0) : plain.status().ToString();
  }

  template <typename Tensor>
  static void PutInRegion(Tensor* tensor, const std::string& region, std::int64_t offset, std::int64_t byte_size) {
    (*tensor->mutable_parameters())["shared_memory_region"].set_string_param(region);
    (*tensor->mutable_parameters())["shared_memory_offset"].set_int64_param(offset);
    (*tensor->mutable_parameters())["shared_memory_byte_size"].set_int64_param(byte_size);
  }
  // The ids of IdsRequest from a region, the result raw.
  static InferRequest FromRegion(std::int64_t offset, std::int64_t byte_size, const std::string& region = "r") {
    InferRequest request = RequestFor("tiny");
    PutInRegion(AddInput(&request, "input_ids", "INT64", {2, 3}), region, offset, byte_size);
    return request;
  }
  // Raw ids, the result to a region.
  static InferRequest ToRegion(std::int64_t offset, std::int64_t byte_size, const std::string& region = "r") {
    InferRequest request = IdsRequest();
    auto* const output = request.add_outputs();
    output->set_name("embeddings");
    PutInRegion(output, region, offset, byte_size);
    return request;
  }

  SharedFile file_;
  ServedModels served_;
  const std::unique_ptr<Stub> stub_;
};

TEST_F(OipSharedMemory, InputsAreReadAndOutputsAreWrittenThere) {
  const std::string expected = Expected();
  ASSERT_THAT(Register("r", 0, kBytes), IsOk());
  file_.Write(40, RawBytes(SomeIds()));
  InferRequest request = FromRegion(40, 48);
  auto* const output = request.add_outputs();
  output->set_name("embeddings");
  PutInRegion(output, "r", 4096, 1000);

  const auto response = Infer(request);

  ASSERT_THAT(response, IsOk());
  EXPECT_THAT(response->raw_output_contents(), ElementsAre("")) << "clients find entries by the output's place";
  EXPECT_EQ(response->outputs(0).parameters().at("shared_memory_region").string_param(), "r");
  EXPECT_EQ(response->outputs(0).parameters().at("shared_memory_offset").int64_param(), 4096);
  EXPECT_EQ(response->outputs(0).parameters().at("shared_memory_byte_size").int64_param(), 2 * 3 * 4 * 4);
  EXPECT_EQ(file_.Bytes(4096, expected.size()), expected);
  EXPECT_EQ(file_.Bytes(4096 + 96, 8), std::string(8, '\0')) << "what the result does not fill is left alone";
}

TEST_F(OipSharedMemory, OneOutputThereAndAnotherInTheReply) {
  ASSERT_THAT(Register("r", 0, kBytes), IsOk());
  InferRequest request = ToRegion(64, 96);
  request.add_outputs()->set_name("token_embeddings");

  const auto response = Infer(request);

  ASSERT_THAT(response, IsOk());
  ASSERT_EQ(response->outputs_size(), 2);
  ASSERT_EQ(response->raw_output_contents_size(), 2);
  EXPECT_EQ(response->raw_output_contents(0), "");
  EXPECT_EQ(response->outputs(1).name(), "token_embeddings");
  EXPECT_EQ(response->raw_output_contents(1).size(), 96u);
  EXPECT_NE(response->raw_output_contents(1), file_.Bytes(64, 96));
  EXPECT_EQ(file_.Bytes(64, 96), Expected());
}

TEST_F(OipSharedMemory, RegionsAreListedWithWhatTheyWereRegisteredBy) {
  ASSERT_THAT(Register("a", 0, 4096), IsOk());
  ASSERT_THAT(Register("b", 4096, 4096), IsOk());

  const auto all = Status(""), one = Status("b");

  ASSERT_THAT(all, IsOk());
  EXPECT_EQ(all->regions_size(), 2);
  ASSERT_THAT(one, IsOk());
  ASSERT_EQ(one->regions_size(), 1);
  EXPECT_EQ(one->regions().at("b").key(), key());
  EXPECT_EQ(one->regions().at("b").offset(), 4096u);
  EXPECT_EQ(one->regions().at("b").byte_size(), 4096u);
  EXPECT_THAT(Status("c"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("'c'")));
}

TEST_F(OipSharedMemory, RegisteringANameTwiceIsRefused) {
  ASSERT_THAT(Register("r", 0, kBytes), IsOk());

  EXPECT_THAT(Register("r", 0, kBytes),
              StatusIs(absl::StatusCode::kAlreadyExists, "shared memory region 'r' already in manager"));
}

TEST_F(OipSharedMemory, UnregisteringOneOrAllOrNoneIsFine) {
  for (const char* const name : {"a", "b", "c"}) ASSERT_THAT(Register(name, 0, kBytes), IsOk());

  EXPECT_THAT(Unregister("a"), IsOk());
  EXPECT_THAT(Status("a"), StatusIs(absl::StatusCode::kNotFound, ::testing::_));
  EXPECT_THAT(Unregister("a"), IsOk());
  EXPECT_THAT(Unregister(""), IsOk());
  EXPECT_EQ(Status("")->regions_size(), 0);
  EXPECT_THAT(Unregister(""), IsOk());
}

TEST_F(OipSharedMemory, WhatLiesOutsideTheFileIsNotRegistered) {
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

  for (const auto& [offset, size] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, kBytes + 1},
                                                            {kBytes, 1},
                                                            {kHuge, 1},
                                                            {0, kHuge},
                                                            {kHuge, kHuge},
                                                            {kHuge - 4095, 4096},
                                                            {4096, kHuge - 4095},
                                                            {std::uint64_t{1} << 62, std::uint64_t{1} << 62},
                                                            {0, 0},
                                                            {1, 8}}) {
    EXPECT_THAT(Register("r", offset, size), StatusIs(kInvalid, ::testing::_)) << offset << ", " << size;
  }

  EXPECT_EQ(Status("")->regions_size(), 0);
}

TEST_F(OipSharedMemory, PartsThatLieOutsideTheRegionAreRefused) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  ASSERT_THAT(Register("r", 0, kBytes), IsOk());

  for (const auto& [offset, size] : std::vector<std::pair<std::int64_t, std::int64_t>>{{kBytes - 40, 48},
                                                                                       {kBytes, 48},
                                                                                       {kMax, 48},
                                                                                       {8, kMax},
                                                                                       {kMax, kMax},
                                                                                       {-1, 48},
                                                                                       {kMin, 48},
                                                                                       {0, -48},
                                                                                       {8, kMin}}) {
    EXPECT_THAT(Infer(FromRegion(offset, size)), StatusIs(kInvalid, HasSubstr("for shared memory region: 'r'")))
        << offset << ", " << size;
    EXPECT_THAT(Infer(ToRegion(offset, size)), StatusIs(kInvalid, HasSubstr("for shared memory region: 'r'")))
        << offset << ", " << size;
  }

  EXPECT_THAT(Infer(IdsRequest()), IsOk());
}

TEST_F(OipSharedMemory, SizesThatDoNotFitTheTensorAreRefused) {
  ASSERT_THAT(Register("r", 0, kBytes), IsOk());

  EXPECT_THAT(Infer(FromRegion(0, 40)),
              StatusIs(kInvalid, HasSubstr("input byte size mismatch for input 'input_ids'")));
  EXPECT_THAT(Infer(FromRegion(0, 56)), StatusIs(kInvalid, HasSubstr("Expected 48, got 56")));
  EXPECT_THAT(Infer(ToRegion(0, 95)), StatusIs(kInvalid, AllOf(HasSubstr("'embeddings'"), HasSubstr("at least 96"))));
  EXPECT_THAT(Infer(ToRegion(2, 96)), StatusIs(kInvalid, HasSubstr("multiple of an element's 4 bytes")));
  EXPECT_EQ(file_.Bytes(0, 96), std::string(96, '\0')) << "nothing is written";
}

TEST_F(OipSharedMemory, IdsThatAreOutOfRangeThereAreRefusedAsElsewhere) {
  ASSERT_THAT(Register("r", 0, kBytes), IsOk());
  file_.Write(0, RawBytes<std::int64_t>({1, 2, 3, 4, 10, 0}));

  EXPECT_THAT(Infer(FromRegion(0, 48)), StatusIs(kInvalid, HasSubstr("input_ids[1][1] = 10 is outside [0, 10)")));
}

TEST_F(OipSharedMemory, ContentsBesideARegionAreRefused) {
  ASSERT_THAT(Register("r", 0, kBytes), IsOk());
  InferRequest typed = FromRegion(0, 48), raw = FromRegion(0, 48);
  typed.mutable_inputs(0)->mutable_contents()->add_int64_contents(1);
  raw.add_raw_input_contents(RawBytes(SomeIds()));

  EXPECT_THAT(Infer(typed), StatusIs(kInvalid, HasSubstr("unexpected 'content' provided when using shared memory")));
  EXPECT_THAT(Infer(raw), StatusIs(kInvalid, HasSubstr("raw_input_contents has 1 entries")));
}

TEST_F(OipSharedMemory, UnknownRegionIsNotFound) {
  EXPECT_THAT(Infer(FromRegion(0, 48, "nowhere")),
              StatusIs(absl::StatusCode::kNotFound, "Unable to find shared memory region: 'nowhere'"));
  EXPECT_THAT(Infer(ToRegion(0, 96, "nowhere")),
              StatusIs(absl::StatusCode::kNotFound, "Unable to find shared memory region: 'nowhere'"));
}

TEST_F(OipSharedMemory, RegionsUnregisteredAndRegisteredDuringCallsHarmNone) {
  file_.Write(0, RawBytes(SomeIds()));
  const std::string expected = Expected();
  ASSERT_THAT(Register("r", 0, kBytes), IsOk());
  std::atomic<bool> stop = false;
  std::atomic<int> answered = 0, not_found = 0, others = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&, i] {
      const auto stub = NewStub(served_.unix_address());
      while (!stop) {
        InferRequest request = FromRegion(0, 48);
        auto* const output = request.add_outputs();
        output->set_name("embeddings");
        PutInRegion(output, "r", 1024 * (i + 1), 96);
        grpc::ClientContext context;
        InferResponse response;
        const grpc::Status status = stub->ModelInfer(&context, request, &response);
        if (status.ok() && file_.Bytes(1024 * (i + 1), 96) == expected) {
          ++answered;
        } else if (status.error_code() == grpc::StatusCode::NOT_FOUND) {
          ++not_found;
        } else {
          ++others;
        }
      }
    });
  }

  for (int i = 0; i < 200 || answered < 100; ++i) {
    ASSERT_THAT(Unregister("r"), IsOk());
    ASSERT_THAT(Register("r", 0, kBytes), IsOk());
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();

  EXPECT_EQ(others, 0);
  EXPECT_GE(answered, 100);
}

TEST_F(OipSharedMemory, FileThatIsCutShortGivesAnErrorNotACrash) {
  ASSERT_THAT(Register("r", 0, kBytes), IsOk());
  ASSERT_EQ(truncate(("/dev/shm" + key()).c_str(), 0), 0);

  EXPECT_THAT(Infer(FromRegion(0, 48)),
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("'r'")), ReasonIs("REGION_DAMAGED")));
  EXPECT_THAT(Infer(ToRegion(4096, 96)), ReasonIs("REGION_DAMAGED"));
  EXPECT_THAT(Infer(IdsRequest()), IsOk());
}

TEST_F(OipSharedMemory, CallsOverTcpAreRefused) {
  const auto stub = NewStub(served_.tcp_address());
  ASSERT_THAT(Register("r", 0, kBytes), IsOk());

  EXPECT_THAT(RegisterBy(stub.get(), "t", 0, kBytes), ReasonIs("NOT_LOCAL"));
  grpc::ClientContext context;
  InferResponse response;
  const grpc::Status status = stub->ModelInfer(&context, ToRegion(0, 96), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(file_.Bytes(0, 96), std::string(96, '\0'));
}

TEST_F(OipSharedMemory, RegionsThatAreOffAreRefusedEverywhere) {
  config::ServerConfig config = Config();
  config.shared_memory.reset();
  const ServedModels off(config);
  const auto stub = NewStub(off.unix_address());

  EXPECT_THAT(RegisterBy(stub.get(), "r", 0, kBytes),
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("server.shared_memory.prefix")),
                    ReasonIs("REGIONS_OFF")));
  grpc::ClientContext context;
  InferResponse response;
  EXPECT_EQ(stub->ModelInfer(&context, FromRegion(0, 48), &response).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  grpc::ClientContext metadata_context;
  ::inference::ServerMetadataResponse metadata;
  ASSERT_TRUE(stub->ServerMetadata(&metadata_context, {}, &metadata).ok());
  EXPECT_THAT(metadata.extensions(), ::testing::Not(::testing::Contains("system_shared_memory")));
}

}  // namespace
}  // namespace embd::testing

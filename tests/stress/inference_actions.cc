// The Open Inference Protocol, by a client that knows nothing but its proto.

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "inference/grpc_service.grpc.pb.h"
#include "proto/wire/status.h"
#include "tests/integration/oip/infer_request.h"
#include "tests/stress/actor.h"
#include "tests/stress/life.h"

namespace embd::stress {
namespace {

using testing::InferRequest;
using testing::InferResponse;
namespace protocol = ::inference;
using Service = protocol::GRPCInferenceService;

std::shared_ptr<Service::Stub> Stub(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  return Service::NewStub(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
}

InferRequest RequestOf(const Case& batch) {
  InferRequest request = testing::RequestFor(batch.request.model);
  testing::AddRaw(&request, "input_ids", "INT64", {batch.request.batch_size, batch.request.sequence_length},
                  batch.request.ids);
  request.add_outputs()->set_name("embeddings");
  return request;
}

// The reply does not say of which tables it is.
void ExpectBytes(const Case& batch, const InferResponse& response) {
  ASSERT_EQ(response.raw_output_contents_size(), 1);
  EXPECT_TRUE(std::any_of(batch.expected.begin(), batch.expected.end(), [&response](const auto& expected) {
    return expected.second == response.raw_output_contents(0);
  })) << batch.request.model;
}

Action::Step Infer(Life& life) {
  return [&life, stub = Stub(life.tcp_address())](Actor& actor) {
    const Case& batch =
        life.corpus().AnyPlain(actor.Among({"wide", "normed", "mapped", "learned", "file"}), actor.random());
    grpc::ClientContext context;
    InferResponse response;
    const grpc::Status status = stub->ModelInfer(&context, RequestOf(batch), &response);
    if (actor.Answered(batch, wire::FromGrpcStatus(status))) ExpectBytes(batch, response);
  };
}

Action::Step InferIdentity(Life& life) {
  return [stub = Stub(life.unix_address())](Actor& actor) {
    const InferRequest request = testing::IdentityRequest({2, 3}, {1, 2, 3, 4, 5, 6});
    grpc::ClientContext context;
    InferResponse response;
    const grpc::Status status = stub->ModelInfer(&context, request, &response);
    if (!actor.Answered(wire::FromGrpcStatus(status))) return;
    EXPECT_EQ(response.raw_output_contents(0), request.raw_input_contents(0));
  };
}

Action::Step StreamInfer(Life& life) {
  return [&life, stub = Stub(life.tcp_address())](Actor& actor) {
    grpc::ClientContext context;
    const auto stream = stub->ModelStreamInfer(&context);
    std::vector<const Case*> batches;
    for (std::int64_t i = 1 + Below(actor.random(), 8); i > 0; --i) {
      batches.push_back(&life.corpus().AnyPlain(actor.Among(Corpus::SteadyModels()), actor.random()));
      if (!stream->Write(RequestOf(*batches.back()))) break;
    }
    stream->WritesDone();
    protocol::ModelStreamInferResponse item;
    std::size_t answered = 0;
    for (; stream->Read(&item); ++answered) {
      ASSERT_LT(answered, batches.size());
      const Case& batch = *batches[answered];
      if (item.error_message().empty()) {
        ExpectBytes(batch, item.infer_response());
      } else {
        EXPECT_TRUE(absl::StrContains(item.error_message(), "; try again in")) << item.error_message();
      }
    }
    if (!actor.Answered(wire::FromGrpcStatus(stream->Finish()))) return;
    EXPECT_EQ(answered, batches.size());
  };
}

template <typename Response, typename Request, typename Method>
void Call(Actor& actor, Service::Stub& stub, Method method, const Request& request,
          const std::vector<absl::string_view>& refusals = {}) {
  grpc::ClientContext context;
  Response response;
  actor.Answered(wire::FromGrpcStatus((stub.*method)(&context, request, &response)), refusals);
}

// Calls that tell of the server, each in its turn.
Action::Step Describe(Life& life) {
  return [stub = Stub(life.unix_address())](Actor& actor) {
    using S = Service::Stub;
    Call<protocol::ServerReadyResponse>(actor, *stub, &S::ServerReady, protocol::ServerReadyRequest());
    Call<protocol::ServerMetadataResponse>(actor, *stub, &S::ServerMetadata, protocol::ServerMetadataRequest());
    Call<protocol::ModelStatisticsResponse>(actor, *stub, &S::ModelStatistics, protocol::ModelStatisticsRequest());
    Call<protocol::RepositoryIndexResponse>(actor, *stub, &S::RepositoryIndex, protocol::RepositoryIndexRequest());
    Call<protocol::SystemSharedMemoryStatusResponse>(actor, *stub, &S::SystemSharedMemoryStatus,
                                                     protocol::SystemSharedMemoryStatusRequest());
    protocol::ModelMetadataRequest metadata;
    metadata.set_name("wide");
    Call<protocol::ModelMetadataResponse>(actor, *stub, &S::ModelMetadata, metadata);
    protocol::ModelConfigRequest config;
    config.set_name("mapped");
    Call<protocol::ModelConfigResponse>(actor, *stub, &S::ModelConfig, config);
    protocol::ModelReadyRequest ready;
    ready.set_name(actor.Among(Corpus::FleetingModels()));
    Call<protocol::ModelReadyResponse>(actor, *stub, &S::ModelReady, ready, {"MODEL_NOT_FOUND"});
  };
}

Action::Step UnloadAndLoad(Life& life) {
  return [stub = Stub(life.tcp_address())](Actor& actor) {
    const std::string model = actor.Among(Corpus::FleetingModels());
    protocol::RepositoryModelUnloadRequest unload;
    unload.set_model_name(model);
    Call<protocol::RepositoryModelUnloadResponse>(actor, *stub, &Service::Stub::RepositoryModelUnload, unload,
                                                  {"MODEL_NOT_FOUND"});
    protocol::RepositoryModelLoadRequest load;
    load.set_model_name(model);
    Call<protocol::RepositoryModelLoadResponse>(actor, *stub, &Service::Stub::RepositoryModelLoad, load,
                                                LoadRefusals());
    actor.Pause(20'000);
  };
}

// A region that is registered, read, written and unregistered by this protocol; with other threads doing the same.
Action::Step Regions(Life& life) {
  const std::string path = life.world().region_prefix + "oip";
  std::ofstream file(path, std::ios::binary);
  file << std::string(1 << 20, '\0');
  return [&life, stub = Stub(life.unix_address()), key = path.substr(std::string("/dev/shm").size())](Actor& actor) {
    const auto in_region = [](auto* tensor, std::int64_t offset, std::int64_t byte_size) {
      (*tensor->mutable_parameters())["shared_memory_region"].set_string_param("oip");
      (*tensor->mutable_parameters())["shared_memory_offset"].set_int64_param(offset);
      (*tensor->mutable_parameters())["shared_memory_byte_size"].set_int64_param(byte_size);
    };
    protocol::SystemSharedMemoryRegisterRequest registering;
    registering.set_name("oip");
    registering.set_key(key);
    registering.set_byte_size(1 << 20);
    Call<protocol::SystemSharedMemoryRegisterResponse>(actor, *stub, &Service::Stub::SystemSharedMemoryRegister,
                                                       registering, {"REGION_EXISTS", "TOO_MANY_REGIONS"});
    for (int i = 0; i < 5; ++i) {
      // Zeros are ids, too.
      InferRequest request = testing::RequestFor("wide");
      in_region(testing::AddInput(&request, "input_ids", "INT64", {2, 64}), 0, 2 * 64 * 8);
      auto* const output = request.add_outputs();
      output->set_name("embeddings");
      in_region(output, 4096 + 131'072 * (3 * actor.number() + Below(actor.random(), 3)), 131'072);
      Call<InferResponse>(actor, *stub, &Service::Stub::ModelInfer, request, {"REGION_NOT_FOUND"});
    }
    protocol::SystemSharedMemoryUnregisterRequest unregistering;
    unregistering.set_name("oip");
    Call<protocol::SystemSharedMemoryUnregisterResponse>(actor, *stub, &Service::Stub::SystemSharedMemoryUnregister,
                                                         unregistering);
  };
}

}  // namespace

std::vector<Action> InferenceActions() {
  return {{"ModelInfer", 2, Infer},
          {"ModelInfer, not of embeddings", 1, InferIdentity},
          {"ModelStreamInfer", 1, StreamInfer},
          {"descriptions by inference protocol", 1, Describe},
          {"RepositoryModelUnload and RepositoryModelLoad", 1, UnloadAndLoad},
          {"regions by inference protocol", 2, Regions}};
}

}  // namespace embd::stress

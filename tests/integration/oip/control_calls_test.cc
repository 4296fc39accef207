// The calls around inference: what server and models tell of themselves, and what is not served. The cases of Triton's
// L0_server_status and L0_grpc.

#include <string>
#include <vector>

#include "tests/integration/oip/oip_server.h"
#include "tests/integration/oip/wire_bytes.h"

namespace embd {
namespace {

using ::embd::testing::IdsRequest;
using ::embd::testing::InferRequest;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::Refused;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

using Stub = ::inference::GRPCInferenceService::Stub;

class ControlCalls : public testing::OipServer {
 protected:
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    Response response;
    const grpc::Status status = (stub().*method)(&context, request, &response);
    if (!status.ok()) return wire::FromGrpcStatus(status);
    return response;
  }

  // A request of one of the calls that name a model.
  template <typename Request>
  static Request Of(const std::string& name, const std::string& version = "") {
    Request request;
    request.set_name(name);
    request.set_version(version);
    return request;
  }

  template <typename Request, typename Response>
  void ExpectNamesAreChecked(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*)) {
    EXPECT_THAT(Call(method, Of<Request>("foo")),
                AllOf(StatusIs(absl::StatusCode::kNotFound, "Request for unknown model: 'foo' is not found"),
                      ReasonIs("MODEL_NOT_FOUND")));
    EXPECT_THAT(
        Call(method, Of<Request>("tiny", "99")),
        AllOf(StatusIs(absl::StatusCode::kNotFound, "Request for unknown model: 'tiny' version 99 is not found"),
              ReasonIs("VERSION_NOT_FOUND")));
    EXPECT_THAT(Call(method, Of<Request>("tiny", "latest")),
                Refused("INVALID_OPTION", HasSubstr("failed to get model version from specified version string")));
    EXPECT_THAT(Call(method, Of<Request>("tiny", "1")), IsOk());
  }

  template <typename Request, typename Response>
  void ExpectNotServed(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                       const std::string& name) {
    EXPECT_THAT(Call(method, Request()),
                StatusIs(absl::StatusCode::kUnimplemented, HasSubstr(name + " is not served: ")));
  }
};

TEST_F(ControlCalls, ServerTellsNameVersionAndTheExtensionsThatWork) {
  const auto response = Call(&Stub::ServerMetadata, ::inference::ServerMetadataRequest());

  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->name(), "embd");
  EXPECT_NE(response->version(), "");
  EXPECT_THAT(response->extensions(), IsSupersetOf({"model_configuration", "parameters", "statistics"}));
  EXPECT_THAT(response->extensions(), Not(Contains("model_repository"))) << "it is off";
  EXPECT_THAT(response->extensions(), Not(Contains("system_shared_memory"))) << "it is off";
}

TEST_F(ControlCalls, MetadataTellsTensorsWithTheBatchDimension) {
  const auto response = Call(&Stub::ModelMetadata, Of<::inference::ModelMetadataRequest>("tiny"));

  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->name(), "tiny");
  EXPECT_THAT(response->versions(), ElementsAre("1"));
  EXPECT_EQ(response->platform(), "embedding_table");
  std::vector<std::string> inputs, outputs;
  for (const auto& input : response->inputs()) inputs.push_back(input.name());
  for (const auto& output : response->outputs()) outputs.push_back(output.name());
  EXPECT_THAT(inputs, ElementsAre("input_ids", "position_ids", "attention_mask", "inputs_embeds"));
  EXPECT_THAT(outputs, ElementsAre("embeddings", "token_embeddings", "position_embeddings"));
  EXPECT_EQ(response->inputs(0).datatype(), "INT64");
  EXPECT_THAT(response->inputs(0).shape(), ElementsAre(-1, -1));
  EXPECT_EQ(response->outputs(0).datatype(), "FP32");
  EXPECT_THAT(response->outputs(0).shape(), ElementsAre(-1, -1, 4));
}

TEST_F(ControlCalls, ConfigTellsTensorsWithoutTheBatchDimension) {
  const auto response = Call(&Stub::ModelConfig, Of<::inference::ModelConfigRequest>("tiny"));

  ASSERT_THAT(response, IsOk());
  const ::inference::ModelConfig& config = response->config();
  EXPECT_EQ(config.name(), "tiny");
  EXPECT_EQ(config.max_batch_size(), 16);
  ASSERT_EQ(config.input_size(), 4);
  EXPECT_EQ(config.input(0).name(), "input_ids");
  EXPECT_EQ(config.input(0).data_type(), ::inference::TYPE_INT64);
  EXPECT_THAT(config.input(0).dims(), ElementsAre(-1));
  EXPECT_FALSE(config.input(0).optional());
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(config.input(i).optional()) << config.input(i).name();
  ASSERT_EQ(config.output_size(), 3);
  EXPECT_EQ(config.output(0).name(), "embeddings");
  EXPECT_EQ(config.output(0).data_type(), ::inference::TYPE_FP32);
  EXPECT_THAT(config.output(0).dims(), ElementsAre(-1, 4));
}

TEST_F(ControlCalls, NamesAndVersionsAreCheckedByEveryCall) {
  ExpectNamesAreChecked(&Stub::ModelMetadata);
  ExpectNamesAreChecked(&Stub::ModelConfig);
  ExpectNamesAreChecked(&Stub::ModelStatistics);
}

TEST_F(ControlCalls, StatisticsCountRowsAndRequests) {
  InferRequest bad = IdsRequest();
  bad.clear_raw_input_contents();
  for (int i = 0; i < 3; ++i) ASSERT_THAT(Infer(IdsRequest()), IsOk());
  ASSERT_THAT(Infer(bad), Not(IsOk()));

  const auto response = Call(&Stub::ModelStatistics, Of<::inference::ModelStatisticsRequest>("tiny"));

  ASSERT_THAT(response, IsOk());
  ASSERT_EQ(response->model_stats_size(), 1);
  const ::inference::ModelStatistics& stats = response->model_stats(0);
  EXPECT_EQ(stats.name(), "tiny");
  EXPECT_EQ(stats.version(), "1");
  EXPECT_EQ(stats.inference_count(), 6u);
  EXPECT_EQ(stats.execution_count(), 3u);
  EXPECT_GT(stats.last_inference(), 0u);
  EXPECT_EQ(stats.inference_stats().success().count(), 3u);
  EXPECT_EQ(stats.inference_stats().fail().count(), 1u);
  EXPECT_EQ(stats.inference_stats().compute_infer().count(), 3u);
  ASSERT_EQ(stats.batch_stats_size(), 1);
  EXPECT_EQ(stats.batch_stats(0).batch_size(), 2u);
  EXPECT_EQ(stats.batch_stats(0).compute_infer().count(), 3u);
}

TEST_F(ControlCalls, StatisticsWithoutANameAreThoseOfAllModels) {
  const auto response = Call(&Stub::ModelStatistics, ::inference::ModelStatisticsRequest());

  ASSERT_THAT(response, IsOk());
  ASSERT_EQ(response->model_stats_size(), 2);
  EXPECT_EQ(response->model_stats(0).name(), "identity_fp32");
  EXPECT_EQ(response->model_stats(1).name(), "tiny");
}

TEST_F(ControlCalls, LoadingIsRefusedWhileItIsOff) {
  ::inference::RepositoryModelLoadRequest load;
  load.set_model_name("tiny");
  ::inference::RepositoryModelUnloadRequest unload;
  unload.set_model_name("tiny");

  EXPECT_THAT(Call(&Stub::RepositoryModelLoad, load),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("explicit model load / unload is not allowed")));
  EXPECT_THAT(Call(&Stub::RepositoryModelUnload, unload),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("explicit model load / unload is not allowed")));
  EXPECT_THAT(Infer(IdsRequest()), IsOk());
}

TEST_F(ControlCalls, RegionsAreRefusedWhileTheyAreOff) {
  EXPECT_THAT(Call(&Stub::SystemSharedMemoryStatus, ::inference::SystemSharedMemoryStatusRequest()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("shared_memory")));
  EXPECT_THAT(Call(&Stub::SystemSharedMemoryUnregister, ::inference::SystemSharedMemoryUnregisterRequest()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("shared_memory")));
}

TEST_F(ControlCalls, CallsThatAreNotServedSayWhy) {
  ExpectNotServed(&Stub::CudaSharedMemoryStatus, "CudaSharedMemoryStatus");
  ExpectNotServed(&Stub::CudaSharedMemoryRegister, "CudaSharedMemoryRegister");
  ExpectNotServed(&Stub::CudaSharedMemoryUnregister, "CudaSharedMemoryUnregister");
  ExpectNotServed(&Stub::TraceSetting, "TraceSetting");
  ExpectNotServed(&Stub::LogSettings, "LogSettings");
}

TEST_F(ControlCalls, BytesThatAreNoRequestAreRefusedByEveryCall) {
  for (const char* const name :
       {"ServerLive", "ServerReady", "ModelReady", "ServerMetadata", "ModelMetadata", "ModelConfig", "ModelStatistics",
        "RepositoryIndex", "RepositoryModelLoad", "RepositoryModelUnload", "SystemSharedMemoryStatus",
        "SystemSharedMemoryRegister", "SystemSharedMemoryUnregister", "TraceSetting", "LogSettings"}) {
    const std::string method = std::string("/inference.GRPCInferenceService/") + name;
    EXPECT_THAT(testing::CallRaw(channel(), method.c_str(), "\xff\xff"), Refused("MALFORMED_REQUEST", HasSubstr(name)));
  }
  EXPECT_THAT(Infer(IdsRequest()), IsOk());
}

TEST_F(ControlCalls, UnknownMethodIsNotImplemented) {
  EXPECT_THAT(testing::CallRaw(channel(), "/inference.GRPCInferenceService/Foo", ""),
              StatusIs(absl::StatusCode::kUnimplemented, ::testing::_));
}

}  // namespace
}  // namespace embd

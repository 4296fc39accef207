// What a running server tells of itself over HTTP.

#include "server/app/observation.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "inference/grpc_service.grpc.pb.h"
#include "tests/support/eventually.h"
#include "tests/support/http_exchange.h"
#include "tests/support/identity_servable.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using ::embd::testing::Eventually;
using ::embd::testing::HttpGet;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const client::CallOptions kUnary = {.chunks = client::Chunks::kNever};

config::ServerConfig Config() {
  config::ServerConfig config;
  config.metrics_listen = {"127.0.0.1:0"};
  config.models = {testing::SmallModel("tiny", 10, 4, 64), testing::SmallModel("wide", 10, 256, 64)};
  return config;
}

client::EmbedRequest Request(const std::string& model, std::int64_t batch, std::int64_t tokens) {
  return {.model = model,
          .ids = std::vector<std::int64_t>(static_cast<std::size_t>(batch * tokens), 3),
          .batch_size = batch,
          .sequence_length = tokens};
}

class Observation : public ::testing::Test {
 protected:
  std::string Page(const std::string& path) { return HttpGet(served_.server().metrics_addresses()[0], path); }

  // The samples: name, labels and value.
  std::vector<std::string> Samples(const std::string& path = "/metrics") {
    std::istringstream page(Page(path));
    std::vector<std::string> samples;
    bool in_body = false;
    for (std::string line; std::getline(page, line);) {
      if (in_body && line[0] != '#') samples.push_back(line);
      in_body = in_body || line == "\r";
    }
    return samples;
  }

  // The value of that series; -1 where there is none.
  double Value(const std::string& series, const std::string& path = "/metrics") {
    for (const std::string& sample : Samples(path)) {
      if (sample.rfind(series + " ", 0) == 0) return std::stod(sample.substr(series.size() + 1));
    }
    return -1;
  }

  testing::ServedModels served_{Config()};
};

TEST_F(Observation, ServerThatServesIsLiveAndReady) {
  EXPECT_THAT(Page("/healthz"), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("\r\n\r\nok\n")));
  EXPECT_THAT(Page("/readyz"), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("\r\n\r\nready\n")));
  EXPECT_EQ(Value("embd_ready"), 1);
}

TEST_F(Observation, ServerThatDrainsIsLiveAndNotReady) {
  served_.server().Shutdown(absl::ZeroDuration());

  EXPECT_THAT(Page("/healthz"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Page("/readyz"), AllOf(StartsWith("HTTP/1.1 503 "), EndsWith("not ready: draining\n")));
  EXPECT_EQ(Value("embd_ready"), 0);
}

TEST_F(Observation, RequestsAreCountedForTheirModel) {
  ASSERT_THAT(served_.TcpClient().Embed(Request("tiny", 2, 3), kUnary), IsOk());
  ASSERT_THAT(served_.TcpClient().Embed(Request("tiny", 1, 5), kUnary), IsOk());

  EXPECT_EQ(Value(R"(nv_inference_request_success{model="tiny",version="1"})"), 2);
  EXPECT_EQ(Value(R"(nv_inference_count{model="tiny",version="1"})"), 3);
  EXPECT_EQ(Value(R"(embd_rows_total{model="tiny",version="1"})"), 3);
  EXPECT_EQ(Value(R"(embd_tokens_total{model="tiny",version="1"})"), 11);
  EXPECT_GT(Value(R"(embd_response_bytes_total{model="tiny",version="1"})"), 11 * 4 * 4);
  EXPECT_EQ(Value(R"(embd_request_seconds_bucket{model="tiny",version="1",le="+Inf"})"), 2);
  EXPECT_EQ(Value(R"(nv_inference_request_success{model="wide",version="1"})"), 0);
}

// Large enough for several messages, and for the workers.
TEST_F(Observation, RequestInPartsIsCountedOnceWithAllItsBytes) {
  ASSERT_THAT(served_.TcpClient().Embed(Request("wide", 64, 64), {.chunks = client::Chunks::kAlways}), IsOk());

  EXPECT_EQ(Value(R"(embd_tokens_total{model="wide",version="1"})"), 64 * 64);
  EXPECT_GT(Value(R"(embd_response_bytes_total{model="wide",version="1"})"), 64 * 64 * 256 * 4);
  EXPECT_EQ(Value(R"(nv_inference_request_success{model="wide",version="1"})"), 1);
  EXPECT_EQ(Value(R"(nv_inference_pending_request_count{model="wide",version="1"})"), 0);
  EXPECT_TRUE(testing::Eventually([&] { return Value("embd_inflight_bytes") == 0; }));
  EXPECT_TRUE(testing::Eventually([&] { return Value("embd_inflight_calls") == 0; }));
}

TEST_F(Observation, CallsAreCountedByMethodAndCode) {
  ASSERT_THAT(served_.TcpClient().Embed(Request("tiny", 1, 1), kUnary), IsOk());
  ASSERT_THAT(served_.TcpClient().Embed(Request("tiny", 1, 65), kUnary), Not(IsOk()));

  const std::string embed = R"({grpc_type="unary",grpc_service="embd.v1.EmbeddingService",grpc_method="Embed")";
  EXPECT_EQ(Value("grpc_server_started_total" + embed + "}"), 2);
  EXPECT_EQ(Value("grpc_server_handled_total" + embed + R"(,grpc_code="OK"})"), 1);
  EXPECT_EQ(Value("grpc_server_handled_total" + embed + R"(,grpc_code="InvalidArgument"})"), 1);
  EXPECT_EQ(Value("grpc_server_handled_total" + embed + R"(,grpc_code="Internal"})"), 0);
  EXPECT_EQ(Value("grpc_server_handling_seconds_count" + embed + "}"), 2);
  EXPECT_EQ(Value(R"(nv_inference_request_failure{model="tiny",version="1",reason="OTHER"})"), 1);
}

TEST_F(Observation, NamesOfNoModelAddOneSeries) {
  const client::Client client = served_.InProcessClient();
  ASSERT_THAT(client.Embed(Request("tiny", 1, 1), kUnary), IsOk());
  const std::size_t before = Samples().size();

  for (int i = 0; i < 10'000; ++i) {
    ASSERT_THAT(client.Embed(Request(absl::StrCat("no such model ", i * 7919), 1, 1), kUnary),
                StatusIs(absl::StatusCode::kNotFound, HasSubstr("no such model")));
  }

  EXPECT_EQ(Samples().size(), before + 1);
  EXPECT_EQ(Value(R"(nv_inference_request_failure{model="unknown",version="unknown",reason="OTHER"})"), 10'000);
}

TEST_F(Observation, TritonsTimesAreOnTheirOwnPageOnly) {
  ASSERT_THAT(served_.TcpClient().Embed(Request("wide", 64, 64), kUnary), IsOk());

  for (const char* const name : {"request", "queue", "compute_input", "compute_infer", "compute_output"}) {
    const std::string series = absl::StrCat("nv_inference_", name, R"(_duration_us{model="wide",version="1"})");
    EXPECT_EQ(Value(series), -1) << series;
    EXPECT_GE(Value(series, "/metrics/triton"), 0) << series;
  }
  EXPECT_GT(Value(R"(nv_inference_request_duration_us{model="wide",version="1"})", "/metrics/triton"), 0);
  EXPECT_THAT(Page("/metrics/triton"), HasSubstr("# TYPE nv_inference_request_success counter\n"));
  EXPECT_THAT(Page("/metrics"), HasSubstr("# TYPE nv_inference_request_success untyped\n"));
}

TEST_F(Observation, TablesAreDescribed) {
  EXPECT_EQ(Value(R"(embd_table_info{name="wide",version="1",dtype="float32",dim="256",rows="10"})"), 1);
  EXPECT_EQ(Value(R"(embd_table_bytes{model="wide",version="1"})"), (10 + 64) * 256 * 4);
  EXPECT_GT(Value(R"(nv_model_load_duration_secs{model="wide",version="1"})"), 0);
}

TEST_F(Observation, ProcessAndMachineAreDescribed) {
  EXPECT_GT(Value("process_resident_memory_bytes"), 1 << 20);
  EXPECT_TRUE(Eventually([this] { return Value("process_cpu_seconds_total") > 0; }));  // counted in hundredths
  EXPECT_GT(Value("process_open_fds"), 5);
  EXPECT_LE(Value("process_start_time_seconds"), static_cast<double>(absl::ToUnixSeconds(absl::Now())) + 1);
  EXPECT_GT(Value("process_start_time_seconds"), 1.6e9);
  EXPECT_GT(Value("nv_cpu_memory_total_bytes"), Value("nv_cpu_memory_used_bytes"));
  EXPECT_LE(Value("nv_cpu_utilization"), 1);
}

TEST_F(Observation, AddressThatIsTakenIsRefused) {
  config::ServerConfig second = Config();
  second.listen = {"127.0.0.1:0"};
  second.metrics_listen = served_.server().metrics_addresses();

  EXPECT_THAT(app::EmbeddingServer::Start(second),
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(second.metrics_listen[0])),
                    ReasonIs("CANNOT_LISTEN")));
}

// A model whose every request finds a fault of the server's.
class BrokenServable final : public testing::IdentityServable {
 public:
  BrokenServable() : IdentityServable("broken") {}
  absl::StatusOr<std::unique_ptr<oip::Inference>> Plan(
      const service::Backend& /*backend*/, std::vector<oip::InputTensor> /*inputs*/,
      const std::vector<oip::OutputRequest>& /*outputs*/) const override {
    return absl::InternalError("the secret cause");
  }
};

inference::ModelInferRequest InferRequest(const std::string& model) {
  inference::ModelInferRequest request;
  request.set_model_name(model);
  inference::ModelInferRequest::InferInputTensor& input = *request.add_inputs();
  input.set_name("INPUT0");
  input.set_datatype("FP32");
  input.add_shape(1);
  input.add_shape(1);
  request.add_raw_input_contents("\x01\x02\x03\x04");
  return request;
}

TEST(InternalError, CallerIsToldTheRequestIdAndTheLogHasItWithTheCause) {
  testing::ServedModels served(Config(), {std::make_shared<BrokenServable>()});
  const auto stub = inference::GRPCInferenceService::NewStub(served.server().InProcessChannel({}));
  grpc::ClientContext context;
  context.AddMetadata("x-request-id", "mine-7");
  context.AddMetadata("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  inference::ModelInferResponse response;

  ::testing::internal::CaptureStderr();
  const grpc::Status status = stub->ModelInfer(&context, InferRequest("broken"), &response);
  const std::string log = ::testing::internal::GetCapturedStderr();

  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_THAT(status.error_message(), AllOf(HasSubstr("request_id mine-7"), Not(HasSubstr("secret"))));
  EXPECT_THAT(log, HasSubstr("error internal error request_id=mine-7 trace_id=4bf92f3577b34da6a3ce929d0e0e4736 "
                             "span_id=00f067aa0ba902b7 rpc=ModelInfer error=\"INTERNAL: the secret cause\""));
}

TEST(ModelOfOtherTensors, HasNoTokens) {
  testing::ServedModels served(Config(), {std::make_shared<testing::IdentityServable>("same")});
  const auto stub = inference::GRPCInferenceService::NewStub(served.server().InProcessChannel({}));
  grpc::ClientContext context;
  inference::ModelInferResponse response;
  ASSERT_TRUE(stub->ModelInfer(&context, InferRequest("same"), &response).ok());

  const std::string page = HttpGet(served.server().metrics_addresses()[0], "/metrics");

  EXPECT_THAT(page, HasSubstr("\nembd_tokens_total{model=\"same\",version=\"1\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("\nembd_rows_total{model=\"same\",version=\"1\"} 1\n"));
}

// A repository of one model that is not ready.
class LoadingModels final : public service::ModelControl {
 public:
  bool is_explicit() const override { return false; }
  std::vector<Entry> Index() const override {
    return {{.name = "a", .version = "1", .state = State::kReady},
            {.name = "b", .version = "1", .state = State::kLoading, .reason = "loading"}};
  }
  absl::StatusOr<service::LoadedModel> LoadSince(const std::string& /*name*/, Clock::time_point /*asked*/) override {
    return service::LoadedModel();
  }
  absl::Status Unload(const std::string& /*name*/) override { return absl::OkStatus(); }
};

TEST(Readiness, NamesTheModelsThatAreMissing) {
  const app::Health health;
  const LoadingModels models;
  const std::atomic<bool> stopping = false;
  auto pages = app::Pages({.backend = nullptr, .health = &health, .models = &models, .stopping = &stopping});

  const observability::HttpAnswer answer = pages.at("/readyz")();

  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "not ready: starting\nmodel \"b\": loading\n");
}

}  // namespace
}  // namespace embd

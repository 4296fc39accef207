#include "embd/client/rotary.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "embd/client/client.h"
#include "embd/client/error.h"
#include "embd/client/fake_transport.h"
#include "gmock/gmock.h"
#include "tests/support/scripted_server.h"
#include "tests/support/status_matchers.h"

namespace embd::client {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::ScriptedServer;
using ::embd::testing::StatusIs;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

const std::vector<float> kVectors = {1, 2, 3, 4};

RotateRequest Request() { return {.model = "m", .vectors = std::as_bytes(std::span(kVectors)), .shape = {1, 4}}; }

grpc::Status Echo(grpc::ServerContext*, const v1::RotateRequest& request, v1::RotateResponse* response) {
  response->set_model(request.model());
  response->set_model_version("2");
  response->set_attention_factor(1.5);
  *response->mutable_vectors() = request.vectors();
  return grpc::Status::OK;
}

Client ConnectTo(const ScriptedServer& server) { return Client::Connect(server.address()).value(); }

TEST(RotateOverGrpc, ReturnsTheVectorsAndWhatTheReplySays) {
  const ScriptedServer server({.rotate = Echo});

  ASSERT_OK_AND_ASSIGN(const RotatedVectors rotated, ConnectTo(server).Rotate(Request()));

  ASSERT_OK_AND_ASSIGN(const auto values, rotated.floats());
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(rotated.info().shape, ElementsAre(1, 4));
  EXPECT_EQ(rotated.info().model, "m");
  EXPECT_EQ(rotated.info().model_version, "2");
  EXPECT_EQ(rotated.info().attention_factor, 1.5);
}

TEST(RotateOverGrpc, SendsEveryFieldOfTheRequest) {
  v1::RotateRequest received;
  const ScriptedServer server({.rotate = [&received](grpc::ServerContext* context, const v1::RotateRequest& request,
                                                     v1::RotateResponse* response) {
    received = request;
    return Echo(context, request, response);
  }});
  RotateRequest request = Request();
  request.parameters = RotaryParameters{.head_dim = 4,
                                        .rotary_dim = 2,
                                        .theta = 5,
                                        .scaling = RotaryScaling{.type = "t",
                                                                 .factor = 1,
                                                                 .original_max_position_embeddings = 2,
                                                                 .low_freq_factor = 3,
                                                                 .high_freq_factor = 4,
                                                                 .beta_fast = 5,
                                                                 .beta_slow = 6,
                                                                 .attention_factor = 7,
                                                                 .mscale = 8,
                                                                 .mscale_all_dim = 9,
                                                                 .truncate = false,
                                                                 .max_position_embeddings = 10,
                                                                 .short_factor = {11},
                                                                 .long_factor = {12}},
                                        .pairing = RotaryPairing::kInterleaved};
  request.layer_type = "l";
  request.output_layout = RotaryOutput::kSplit;
  request.sequence_axis = -2;
  request.position_offsets = {13};
  request.position_ids = {14};
  request.scaling_length = 15;
  request.inverse = true;
  request.output_type = DataType::kFloat16;
  request.model_version = "v";

  ASSERT_THAT(ConnectTo(server).Rotate(request), IsOk());

  received.mutable_vectors()->clear_data();
  EXPECT_EQ(received.ShortDebugString(),
            "model: \"m\" model_version: \"v\" parameters { head_dim: 4 rotary_dim: 2 theta: 5 scaling { type: \"t\" "
            "factor: 1 original_max_position_embeddings: 2 low_freq_factor: 3 high_freq_factor: 4 beta_fast: 5 "
            "beta_slow: 6 attention_factor: 7 mscale: 8 mscale_all_dim: 9 truncate: false max_position_embeddings: 10 "
            "short_factor: 11 long_factor: 12 } pairing: ROTARY_PAIRING_INTERLEAVED } output_layout: "
            "ROTARY_OUTPUT_SPLIT layer_type: \"l\" sequence_axis: -2 position_offsets: 13 position_ids: 14 "
            "scaling_length: 15 inverse: true output_type: DATA_TYPE_FLOAT16 vectors { data_type: DATA_TYPE_FLOAT32 "
            "shape: 1 shape: 4 }");
}

TEST(RotateOverGrpc, SendsNoFieldThatIsNotGiven) {
  v1::RotateRequest received;
  const ScriptedServer server({.rotate = [&received](grpc::ServerContext* context, const v1::RotateRequest& request,
                                                     v1::RotateResponse* response) {
    received = request;
    return Echo(context, request, response);
  }});
  ASSERT_THAT(ConnectTo(server).Rotate(Request()), IsOk());

  EXPECT_FALSE(received.has_parameters());
  EXPECT_FALSE(received.has_sequence_axis());
  EXPECT_FALSE(received.has_scaling_length());
}

TEST(RotateOverGrpc, ReplyThatMakesNoSenseIsInternal) {
  const ScriptedServer server({.rotate = [](grpc::ServerContext*, const v1::RotateRequest&, v1::RotateResponse* out) {
    out->mutable_vectors()->set_data_type(v1::DATA_TYPE_FLOAT32);
    out->mutable_vectors()->add_shape(3);
    return grpc::Status::OK;
  }});

  EXPECT_THAT(ConnectTo(server).Rotate(Request()), StatusIs(absl::StatusCode::kInternal, HasSubstr("makes no sense")));
}

TEST(RotateOverGrpc, FloatsOfAnotherTypeAreRefused) {
  const RotatedVectors vectors({.data_type = DataType::kBfloat16}, nullptr, 0);

  EXPECT_THAT(vectors.floats(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("bfloat16")));
}

void SetTable(std::int64_t rows, std::int64_t pairs, const std::string& data, v1::Tensor* tensor) {
  tensor->set_data_type(v1::DATA_TYPE_FLOAT32);
  tensor->add_shape(rows);
  tensor->add_shape(pairs);
  tensor->set_data(data);
}

TEST(RotaryTableOverGrpc, TablesOfDifferentShapesMakeNoSense) {
  const ScriptedServer server(
      {.rotary_table = [](grpc::ServerContext*, const v1::RotaryTableRequest&, v1::RotaryTableResponse* response) {
        SetTable(1, 2, std::string(8, 'x'), response->mutable_cos());
        SetTable(2, 1, std::string(8, 'x'), response->mutable_sin());
        return grpc::Status::OK;
      }});

  EXPECT_THAT(ConnectTo(server).RotaryTable({.model = "m", .length = 1}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("makes no sense")));
}

TEST(RotaryTableOverGrpc, SendsEveryFieldOfTheRequest) {
  v1::RotaryTableRequest received;
  const ScriptedServer server({.rotary_table = [&received](grpc::ServerContext*, const v1::RotaryTableRequest& request,
                                                           v1::RotaryTableResponse* response) {
    received = request;
    response->set_attention_factor(2);
    SetTable(1, 1, std::string(4, '\0'), response->mutable_cos());
    SetTable(1, 1, std::string(4, '\0'), response->mutable_sin());
    return grpc::Status::OK;
  }});

  ASSERT_OK_AND_ASSIGN(const RotaryTable table,
                       ConnectTo(server).RotaryTable({.model = "m",
                                                      .parameters = RotaryParameters{.head_dim = 2},
                                                      .layer_type = "l",
                                                      .first_position = 3,
                                                      .length = 4,
                                                      .scaling_length = 5,
                                                      .model_version = "v"}));

  EXPECT_EQ(
      received.ShortDebugString(),
      "model: \"m\" model_version: \"v\" parameters { head_dim: 2 } layer_type: \"l\" first_position: 3 length: 4 "
      "scaling_length: 5");
  EXPECT_EQ(table.attention_factor(), 2);
  EXPECT_THAT(std::vector<float>(table.cos().begin(), table.cos().end()), ElementsAre(0));
}

class FakeRotary : public ::testing::Test {
 protected:
  FakeRotary() {
    fake_->AddModel({.name = "rotary",
                     .embedding_dim = 1,
                     .token = {1},
                     .rotary = RotaryParameters{.head_dim = 4},
                     .rotary_layer_types = {{"inner", {.head_dim = 4, .pairing = RotaryPairing::kInterleaved}}}});
    fake_->AddModel({.name = "bare", .embedding_dim = 1, .token = {1}});
  }

  std::shared_ptr<FakeTransport> fake_ = std::make_shared<FakeTransport>();
  Client client_ = Client(fake_);
};

TEST_F(FakeRotary, TurnsTheKnownVector) {
  RotateRequest request = Request();
  request.model = "rotary";
  request.position_offsets = {1};
  ASSERT_OK_AND_ASSIGN(const RotatedVectors half, client_.Rotate(request));
  request.layer_type = "inner";
  ASSERT_OK_AND_ASSIGN(const RotatedVectors inner, client_.Rotate(request));

  EXPECT_THAT(*half.floats(), ElementsAre(FloatNear(-1.984111f, 1e-5f), FloatNear(1.959901f, 1e-5f),
                                          FloatNear(2.462378f, 1e-5f), FloatNear(4.019800f, 1e-5f)));
  EXPECT_THAT(*inner.floats(), ElementsAre(FloatNear(-1.142640f, 1e-5f), FloatNear(1.922076f, 1e-5f),
                                           FloatNear(2.959851f, 1e-5f), FloatNear(4.029800f, 1e-5f)));
}

TEST_F(FakeRotary, DescribesItsEncoding) {
  ASSERT_OK_AND_ASSIGN(const ModelDescription model, client_.DescribeModel({.model = "rotary"}));

  EXPECT_EQ(model.position_encoding, PositionEncoding::kRotary);
  EXPECT_EQ(model.rotary->head_dim, 4);
  EXPECT_EQ(model.rotary_layer_types.at(0).layer_type, "inner");
}

TEST_F(FakeRotary, RefusesAsAServerDoes) {
  RotateRequest request = Request();
  EXPECT_THAT(client_.Rotate(request), ReasonIs("MODEL_NOT_FOUND"));
  request.model = "bare";
  EXPECT_THAT(client_.Rotate(request), ReasonIs("NO_ROTARY"));
  request.model = "";
  EXPECT_THAT(client_.Rotate(request), ReasonIs("INVALID_OPTION"));
  request.model = "rotary";
  request.shape = {2, 2};
  EXPECT_THAT(client_.Rotate(request), ReasonIs("INVALID_SHAPE"));
  request.shape = {1, 4};
  request.position_offsets = {-1};
  EXPECT_THAT(client_.Rotate(request), ReasonIs("POSITION_OUT_OF_RANGE"));
  request.vectors_type = static_cast<DataType>(-1);
  EXPECT_THAT(client_.Rotate(request), StatusIs(absl::StatusCode::kInvalidArgument, _));
}

TEST_F(FakeRotary, TableHasCosinesAndSines) {
  ASSERT_OK_AND_ASSIGN(const RotaryTable table,
                       client_.RotaryTable({.model = "rotary", .first_position = 1, .length = 2}));

  EXPECT_EQ(table.rows(), 2);
  EXPECT_EQ(table.pairs(), 2);
  EXPECT_FLOAT_EQ(table.cos()[0], static_cast<float>(std::cos(1.0)));
  EXPECT_FLOAT_EQ(table.sin()[3], static_cast<float>(std::sin(0.02)));
}

}  // namespace
}  // namespace embd::client

#include "embd/client/gradient.h"

#include <memory>
#include <string>
#include <vector>

#include "embd/client/client.h"
#include "embd/client/fake_transport.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "tests/support/scripted_server.h"
#include "tests/support/status_matchers.h"

namespace embd::client {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::ScriptedServer;
using ::embd::testing::StatusIs;
using ::testing::_;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pointwise;
using ::testing::SizeIs;

// Answers with `reply`, in text format, and keeps the request, likewise.
embd::testing::Script::Unary<v1::GradientRequest, v1::GradientResponse> Reply(const std::string& reply,
                                                                              std::string* request = nullptr) {
  return [reply, request](grpc::ServerContext*, const v1::GradientRequest& received, v1::GradientResponse* response) {
    if (request != nullptr) *request = received.ShortDebugString();
    return google::protobuf::TextFormat::ParseFromString(reply, response)
               ? grpc::Status::OK
               : grpc::Status(grpc::StatusCode::INTERNAL, "the test's reply is no such message");
  };
}

Client ConnectTo(const ScriptedServer& server) { return Client::Connect(server.address()).value(); }

TEST(Gradient, CarriesEveryField) {
  std::string request;
  const ScriptedServer server({.gradient = Reply(
                                   R"(model: "a" model_version: "2" tables {
      table: TABLE_KIND_POSITION trainable: true table_rows: 9 touched_rows: 1 row_ids: 4 counts: 2 row_norms: 0.5
      rows { data_type: DATA_TYPE_FLOAT32 shape: 1 shape: 1 data: "\000\000\000\077" } } tables { table: TABLE_KIND_TOKEN })",
                                   &request)});

  ASSERT_OK_AND_ASSIGN(
      const Gradients gradients,
      ConnectTo(server).Gradient({.model = "a",
                                  .ids = {1},
                                  .batch_size = 2,
                                  .sequence_length = 3,
                                  .tables = {TableKind::kPosition, TableKind::kToken},
                                  .part = Part::kPosition,
                                  .position_offsets = {4},
                                  .position_ids = {5},
                                  .token_type_ids = {6},
                                  .row_lengths = {7},
                                  .attention_mask = {1},
                                  .model_version = "2",
                                  .output_gradient = InputTensor::FromFloats(std::vector{1.0f}, {8})}));

  EXPECT_EQ(
      request,
      R"(model: "a" ids: 1 batch_size: 2 sequence_length: 3 tables: TABLE_KIND_POSITION tables: TABLE_KIND_TOKEN )"
      R"(part: PART_POSITION position_offsets: 4 position_ids: 5 token_type_ids: 6 row_lengths: 7 )"
      R"(attention_mask: 1 model_version: "2" )"
      R"(output_gradient { data_type: DATA_TYPE_FLOAT32 shape: 8 data: "\000\000\200?" })");
  EXPECT_EQ(gradients.model, "a");
  EXPECT_EQ(gradients.model_version, "2");
  EXPECT_EQ(gradients.loss, std::nullopt);
  ASSERT_THAT(gradients.tables, SizeIs(2));
  const TableGradient& position = gradients.tables[0];
  EXPECT_EQ(position.table, TableKind::kPosition);
  EXPECT_TRUE(position.trainable);
  EXPECT_EQ(position.table_rows, 9);
  EXPECT_EQ(position.touched_rows, 1);
  EXPECT_THAT(position.row_ids, ElementsAre(4));
  EXPECT_THAT(position.counts, ElementsAre(2));
  EXPECT_THAT(position.row_norms, ElementsAre(0.5));
  EXPECT_THAT(position.rows.floats().value(), ElementsAre(0.5f));
  EXPECT_FALSE(gradients.tables[1].trainable);
  EXPECT_THAT(gradients.tables[1].rows.data, IsEmpty());
}

TEST(Gradient, CarriesTheOutputSide) {
  std::string request;
  const ScriptedServer server(
      {.gradient = Reply(R"(loss: 0.25 tables { table: TABLE_KIND_TOKEN touched_rows: 2 row_norms: 1 row_norms: 2 })",
                         &request)});

  ASSERT_OK_AND_ASSIGN(const Gradients gradients,
                       ConnectTo(server).Gradient(
                           {.output_side = OutputSide{.target_ids = {3},
                                                      .hidden = InputTensor::FromFloats(std::vector{1.0f}, {1, 1})}}));

  EXPECT_EQ(request, R"(part: PART_COMPOSED output_side { target_ids: 3 )"
                     R"(hidden { data_type: DATA_TYPE_FLOAT32 shape: 1 shape: 1 data: "\000\000\200?" } })");
  EXPECT_EQ(gradients.loss, 0.25);
  EXPECT_THAT(gradients.tables.at(0).row_norms, ElementsAre(1, 2));
}

TEST(Gradient, RowsThatAreNotAsManyAsTheirNumbersMakeNoSense) {
  const ScriptedServer server({.gradient = Reply(R"(tables { row_ids: 4 counts: 2 row_norms: 0.5
      rows { data_type: DATA_TYPE_FLOAT32 shape: 0 shape: 1 } })")});

  EXPECT_THAT(ConnectTo(server).Gradient({.model = "a"}), StatusIs(absl::StatusCode::kInternal, _));
}

// Token, type and position rows with LayerNorm; padding_idx 0.
FakeModel Bert() {
  return {.name = "bert",
          .embedding_dim = 3,
          .token = {0.5f, -1, 2, 1, 0.25f, -0.5f, -2, 1, 0.75f},
          .position = {0.5f, 0, 1, -1, 0.25f, 1},
          .token_type = {0, 1, -1, 0.5f, 0.5f, 2},
          .token_scale = 2,
          .layer_norm_weight = {1, 2, -0.5f},
          .layer_norm_bias = {0, 1, 2},
          .padding_idx = 0};
}

class FakeGradient : public ::testing::Test {
 protected:
  FakeGradient() { fake_->AddModel(Bert()); }

  // The sum over all outputs of gradient times output.
  double Loss(const FakeModel& model, const GradientRequest& request, const std::vector<float>& gradient) {
    fake_->AddModel(model);
    const auto embedding = client_.Embed({.model = request.model,
                                          .ids = request.ids,
                                          .batch_size = request.batch_size,
                                          .sequence_length = request.sequence_length,
                                          .token_type_ids = request.token_type_ids});
    const auto values = *embedding->As<float>();
    double loss = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) loss += double{gradient[i]} * double{values[i]};
    return loss;
  }

  std::shared_ptr<FakeTransport> fake_ = std::make_shared<FakeTransport>();
  Client client_ = Client(fake_);
};

TEST_F(FakeGradient, IsTheSlopeOfTheLoss) {
  const std::vector<float> gradient = {1, 2, -1, 0.5f, 0, 3};
  const GradientRequest request = {.model = "bert",
                                   .ids = {1, 1},
                                   .batch_size = 1,
                                   .sequence_length = 2,
                                   .token_type_ids = {0, 1},
                                   .output_gradient = InputTensor::FromFloats(gradient, {1, 2, 3})};

  ASSERT_OK_AND_ASSIGN(const Gradients gradients, client_.Gradient(request));

  ASSERT_THAT(gradients.tables, SizeIs(3));
  EXPECT_THAT(gradients.tables[0].row_ids, ElementsAre(1));
  EXPECT_THAT(gradients.tables[0].counts, ElementsAre(2));
  EXPECT_THAT(gradients.tables[1].row_ids, ElementsAre(0, 1));
  constexpr float kStep = 1.0f / 1024;
  for (std::size_t d = 0; d < 3; ++d) {
    FakeModel more = Bert(), less = Bert();
    more.token[3 + d] += kStep;
    less.token[3 + d] -= kStep;
    const double slope = (Loss(more, request, gradient) - Loss(less, request, gradient)) / (2.0 * double{kStep});
    EXPECT_NEAR(double{gradients.tables[0].rows.floats().value()[d]}, slope, 5e-3);
  }
}

TEST_F(FakeGradient, PaddingGivesNone) {
  ASSERT_OK_AND_ASSIGN(
      const Gradients gradients,
      client_.Gradient({.model = "bert",
                        .ids = {0, 2},
                        .batch_size = 1,
                        .sequence_length = 2,
                        .part = Part::kToken,
                        .output_gradient = InputTensor::FromFloats(std::vector<float>{1, 2, 3, 4, 5, 6}, {1, 2, 3})}));

  EXPECT_THAT(gradients.tables.at(0).row_ids, ElementsAre(2));
  EXPECT_THAT(gradients.tables[0].rows.floats().value(), ElementsAre(8, 10, 12));
}

TEST_F(FakeGradient, OutputSideHasTheNormsOfAllRows) {
  fake_->AddModel({.name = "two", .embedding_dim = 1, .token = {1, 1}});

  ASSERT_OK_AND_ASSIGN(const Gradients gradients,
                       client_.Gradient({.model = "two",
                                         .output_side = OutputSide{
                                             .target_ids = {0, 0},
                                             .hidden = InputTensor::FromFloats(std::vector{4.0f, 2.0f}, {2, 1})}}));

  EXPECT_NEAR(gradients.loss.value(), 0.69314718055994531, 1e-12);  // two equal scores
  EXPECT_THAT(gradients.tables.at(0).row_norms, Pointwise(DoubleNear(1e-12), {1.5, 1.5}));
}

TEST_F(FakeGradient, RefusesWhatAServerRefuses) {
  GradientRequest request = {.model = "bert", .ids = {1}, .batch_size = 1, .sequence_length = 1};
  EXPECT_THAT(client_.Gradient(request), ReasonIs("INVALID_SHAPE"));
  request.output_gradient = InputTensor::FromFloats(std::vector<float>{1, 2, 3}, {1, 1, 3});
  request.tables = {TableKind::kToken, TableKind::kToken};
  EXPECT_THAT(client_.Gradient(request), ReasonIs("INVALID_OPTION"));
  request.tables = {TableKind::kOutput};
  EXPECT_THAT(client_.Gradient(request), ReasonIs("NO_SUCH_TABLE"));
  request.tables = {};
  request.output_side = OutputSide{};
  EXPECT_THAT(client_.Gradient(request), ReasonIs("INVALID_OPTION"));
}

}  // namespace
}  // namespace embd::client

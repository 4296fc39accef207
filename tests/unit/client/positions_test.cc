// PositionWavelengths, ShiftProperty and ExplainCell: what goes over the wire, and what the fake answers.

#include "embd/client/positions.h"

#include <cmath>
#include <memory>
#include <string>

#include "embd/client/client.h"
#include "embd/client/explain.h"
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
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Answers with `reply`, in text format, and keeps the request, likewise.
template <typename Request, typename Response>
embd::testing::Script::Unary<Request, Response> Reply(const std::string& reply, std::string* request = nullptr) {
  return [reply, request](grpc::ServerContext*, const Request& received, Response* response) {
    if (request != nullptr) *request = received.ShortDebugString();
    return google::protobuf::TextFormat::ParseFromString(reply, response)
               ? grpc::Status::OK
               : grpc::Status(grpc::StatusCode::INTERNAL, "the test's reply is no such message");
  };
}

Client ConnectTo(const ScriptedServer& server) { return Client::Connect(server.address()).value(); }

using WavelengthsReply = v1::PositionWavelengthsResponse;

TEST(PositionWavelengths, CarriesEveryField) {
  std::string request;
  const ScriptedServer server(
      {.position_wavelengths = Reply<v1::PositionWavelengthsRequest, WavelengthsReply>(
           R"(model: "a" model_version: "2" dim: 4 base: 100 frequencies: [1, 0] wavelengths: [6.5, inf] shortest: 6.5
              longest: inf ratio: inf max_context_length: 9 full_turns: 1)",
           &request)});

  ASSERT_OK_AND_ASSIGN(const client::PositionWavelengths bands,
                       ConnectTo(server).PositionWavelengths({.model = "a",
                                                              .layer_type = "l",
                                                              .rotary = RotaryParameters{.head_dim = 8},
                                                              .scaling_length = 5,
                                                              .model_version = "2"}));

  EXPECT_EQ(request, R"(model: "a" model_version: "2" layer_type: "l" rotary { head_dim: 8 } scaling_length: 5)");
  EXPECT_EQ(bands.model, "a");
  EXPECT_EQ(bands.model_version, "2");
  EXPECT_EQ(bands.dim, 4);
  EXPECT_EQ(bands.base, 100);
  EXPECT_THAT(bands.frequencies, ElementsAre(1, 0));
  EXPECT_THAT(bands.wavelengths, ElementsAre(6.5, HUGE_VAL));
  EXPECT_EQ(bands.shortest, 6.5);
  EXPECT_EQ(bands.longest, HUGE_VAL);
  EXPECT_EQ(bands.ratio, HUGE_VAL);
  EXPECT_EQ(bands.max_context_length, 9);
  EXPECT_EQ(bands.full_turns, 1);
}

TEST(PositionWavelengths, SendsAFormula) {
  std::string request;
  const ScriptedServer server(
      {.position_wavelengths = Reply<v1::PositionWavelengthsRequest, WavelengthsReply>("dim: 4", &request)});

  ASSERT_OK_AND_ASSIGN(const client::PositionWavelengths bands,
                       ConnectTo(server).PositionWavelengths(
                           {.sinusoidal = SinusoidalFormula{.embedding_dim = 4, .base = 2, .tensor2tensor = true}}));

  EXPECT_EQ(request, "sinusoidal { embedding_dim: 4 base: 2 tensor2tensor: true }");
  EXPECT_EQ(bands.max_context_length, std::nullopt);
}

TEST(PositionWavelengths, ListsOfDifferentLengthsAreInternal) {
  const ScriptedServer server(
      {.position_wavelengths = Reply<v1::PositionWavelengthsRequest, WavelengthsReply>("frequencies: 1")});

  EXPECT_THAT(ConnectTo(server).PositionWavelengths({.model = "a"}), StatusIs(absl::StatusCode::kInternal, _));
}

TEST(ShiftProperty, CarriesEveryField) {
  std::string request;
  const ScriptedServer server(
      {.shift_property = Reply<v1::ShiftPropertyRequest, v1::ShiftPropertyResponse>(
           R"(model: "a" model_version: "2" offset: 3 rows: 9 is_rotation: true max_residual: 0.5 rms_residual: 0.25
              worst_position: 4 worst_column: 5)",
           &request)});

  ASSERT_OK_AND_ASSIGN(const client::ShiftProperty shift,
                       ConnectTo(server).ShiftProperty({.model = "a",
                                                        .sinusoidal = SinusoidalFormula{.embedding_dim = 4},
                                                        .max_context_length = 9,
                                                        .offset = 3,
                                                        .model_version = "2"}));

  EXPECT_EQ(request,
            R"(model: "a" model_version: "2" sinusoidal { embedding_dim: 4 } max_context_length: 9 offset: 3)");
  EXPECT_EQ(shift.model, "a");
  EXPECT_EQ(shift.model_version, "2");
  EXPECT_EQ(shift.offset, 3);
  EXPECT_EQ(shift.rows, 9);
  EXPECT_TRUE(shift.is_rotation);
  EXPECT_EQ(shift.max_residual, 0.5);
  EXPECT_EQ(shift.rms_residual, 0.25);
  EXPECT_EQ(shift.worst_position, 4);
  EXPECT_EQ(shift.worst_column, 5);
}

TEST(ExplainCell, CarriesEveryField) {
  std::string request;
  const ScriptedServer server(
      {.explain_cell = Reply<v1::ExplainCellRequest, v1::ExplainCellResponse>(
           R"(model: "a" model_version: "2" id: 7 token_row: 3 token: "w" token_scale: 2 token_values: 1 scaled_values: 2
              token_type: 1 token_type_values: 3 position: 4 position_row: 6 position_values: 5 sum: 10
              position_before_type: true layer_norm_mean: 1.5 layer_norm_variance: 2.5 layer_norm_eps: 3.5
              layer_norm_weight: 11 layer_norm_bias: 12 embedding: 13 zeroed: true)",
           &request)});

  ASSERT_OK_AND_ASSIGN(const CellExplanation cell, ConnectTo(server).ExplainCell({.model = "a",
                                                                                  .ids = {1, 2},
                                                                                  .batch_size = 1,
                                                                                  .sequence_length = 2,
                                                                                  .position_offsets = {3},
                                                                                  .position_ids = {4, 5},
                                                                                  .token_type_ids = {6, 7},
                                                                                  .row_lengths = {8},
                                                                                  .attention_mask = {0, 1},
                                                                                  .batch_index = 9,
                                                                                  .sequence_index = 10,
                                                                                  .model_version = "2"}));

  EXPECT_EQ(request,
            R"(model: "a" model_version: "2" ids: 1 ids: 2 batch_size: 1 sequence_length: 2 position_offsets: 3 )"
            R"(position_ids: 4 position_ids: 5 token_type_ids: 6 token_type_ids: 7 row_lengths: 8 attention_mask: 0 )"
            R"(attention_mask: 1 batch_index: 9 sequence_index: 10)");
  EXPECT_EQ(cell.model, "a");
  EXPECT_EQ(cell.model_version, "2");
  EXPECT_EQ(cell.id, 7);
  EXPECT_EQ(cell.token_row, 3);
  EXPECT_EQ(cell.token, "w");
  EXPECT_EQ(cell.token_scale, 2);
  EXPECT_THAT(cell.token_values, ElementsAre(1));
  EXPECT_THAT(cell.scaled_values, ElementsAre(2));
  EXPECT_EQ(cell.token_type, 1);
  EXPECT_THAT(cell.token_type_values, ElementsAre(3));
  EXPECT_EQ(cell.position, 4);
  EXPECT_EQ(cell.position_row, 6);
  EXPECT_THAT(cell.position_values, ElementsAre(5));
  EXPECT_THAT(cell.sum, ElementsAre(10));
  EXPECT_TRUE(cell.position_before_type);
  EXPECT_EQ(cell.layer_norm_mean, 1.5);
  EXPECT_EQ(cell.layer_norm_variance, 2.5);
  EXPECT_EQ(cell.layer_norm_eps, 3.5);
  EXPECT_THAT(cell.layer_norm_weight, ElementsAre(11));
  EXPECT_THAT(cell.layer_norm_bias, ElementsAre(12));
  EXPECT_THAT(cell.embedding, ElementsAre(13));
  EXPECT_TRUE(cell.zeroed);
}

TEST(ExplainCell, LeavesUnsetWhatTheModelHasNotAndChecksLengths) {
  const ScriptedServer bare({.explain_cell = Reply<v1::ExplainCellRequest, v1::ExplainCellResponse>("embedding: 1")});
  const ScriptedServer uneven(
      {.explain_cell = Reply<v1::ExplainCellRequest, v1::ExplainCellResponse>("embedding: 1 sum: [1, 2]")});

  ASSERT_OK_AND_ASSIGN(const CellExplanation cell, ConnectTo(bare).ExplainCell({.model = "a"}));

  EXPECT_EQ(cell.token_row, std::nullopt);
  EXPECT_EQ(cell.token_type, std::nullopt);
  EXPECT_EQ(cell.position_row, std::nullopt);
  EXPECT_EQ(cell.layer_norm_eps, std::nullopt);
  EXPECT_THAT(cell.sum, IsEmpty());
  EXPECT_THAT(ConnectTo(uneven).ExplainCell({.model = "a"}), StatusIs(absl::StatusCode::kInternal, _));
}

class FakePositions : public ::testing::Test {
 protected:
  FakePositions() {
    fake_->AddModel({.name = "waves",
                     .embedding_dim = 4,
                     .token = {0, 0, 0, 0},
                     .position = std::vector<float>(48),
                     .position_encoding = PositionEncoding::kSinusoidal});
    fake_->AddModel({.name = "rotary",
                     .embedding_dim = 4,
                     .token = {0, 0, 0, 0},
                     .rotary = RotaryParameters{.head_dim = 4, .theta = 100},
                     .rotary_layer_types = {{"slow", {.head_dim = 4, .theta = 400}}}});
    fake_->AddModel({.name = "bert",
                     .embedding_dim = 2,
                     .token = {1, 2, 3, 4},
                     .position = {0, 0, 10, 20, 30, 40},
                     .vocabulary = {"a", "b"},
                     .token_type = {100, 200, 300, 500},
                     .token_scale = 2,
                     .layer_norm_weight = {1, 2},
                     .layer_norm_bias = {0, 1},
                     .layer_norm_eps = 0,
                     .row_offset = 1});
  }

  std::shared_ptr<FakeTransport> fake_ = std::make_shared<FakeTransport>();
  Client client_ = Client(fake_);
};

TEST_F(FakePositions, HaveWavelengths) {
  ASSERT_OK_AND_ASSIGN(const client::PositionWavelengths waves, client_.PositionWavelengths({.model = "waves"}));
  ASSERT_OK_AND_ASSIGN(const client::PositionWavelengths rotary, client_.PositionWavelengths({.model = "rotary"}));
  ASSERT_OK_AND_ASSIGN(const client::PositionWavelengths slow,
                       client_.PositionWavelengths({.model = "rotary", .layer_type = "slow"}));
  ASSERT_OK_AND_ASSIGN(
      const client::PositionWavelengths formula,
      client_.PositionWavelengths({.sinusoidal = SinusoidalFormula{.embedding_dim = 6, .tensor2tensor = true}}));

  EXPECT_THAT(waves.frequencies, ElementsAre(1, 0.01));
  EXPECT_NEAR(waves.longest, 628.3185, 1e-4);
  EXPECT_EQ(waves.full_turns, 1);
  EXPECT_THAT(rotary.frequencies, ElementsAre(1, 0.1));
  EXPECT_EQ(rotary.base, 100);
  EXPECT_THAT(slow.frequencies, ElementsAre(1, 0.05));
  EXPECT_THAT(formula.frequencies, ElementsAre(1, 0.01, 0.0001));
  EXPECT_EQ(formula.full_turns, 3);
}

TEST_F(FakePositions, RefuseWavelengthsAsAServerDoes) {
  EXPECT_THAT(client_.PositionWavelengths({.model = "bert"}), ReasonIs("NO_WAVELENGTHS"));
  EXPECT_THAT(client_.PositionWavelengths({}), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.PositionWavelengths({.sinusoidal = SinusoidalFormula{.embedding_dim = 3}}),
              ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.PositionWavelengths({.model = "rotary", .layer_type = "fast"}), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.ShiftProperty({.model = "waves"}), StatusIs(absl::StatusCode::kUnimplemented, _));
}

TEST_F(FakePositions, ExplainACell) {
  ASSERT_OK_AND_ASSIGN(const CellExplanation cell, client_.ExplainCell({.model = "bert",
                                                                        .ids = {0, 1, 0},
                                                                        .token_type_ids = {0, 0, 1},
                                                                        .row_lengths = {1, 2},
                                                                        .batch_index = 1,
                                                                        .sequence_index = 1}));

  EXPECT_EQ(cell.token_row, 0);
  EXPECT_EQ(cell.token, "a");
  EXPECT_THAT(cell.scaled_values, ElementsAre(2, 4));
  EXPECT_EQ(cell.token_type, 1);
  EXPECT_EQ(cell.position, 1);
  EXPECT_EQ(cell.position_row, 2);
  EXPECT_THAT(cell.sum, ElementsAre(332, 544));
  EXPECT_EQ(cell.layer_norm_mean, 438);
  EXPECT_EQ(cell.layer_norm_variance, 106 * 106);
  EXPECT_THAT(cell.embedding, ElementsAre(-1, 3));
  EXPECT_THAT(
      client_.ExplainCell({.model = "bert", .ids = {0}, .batch_size = 1, .sequence_length = 1, .batch_index = 1}),
      ReasonIs("INVALID_OPTION"));
}

}  // namespace
}  // namespace embd::client

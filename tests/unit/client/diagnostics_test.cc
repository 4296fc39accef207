#include "embd/client/diagnostics.h"

#include <string>

#include "embd/client/client.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "tests/support/scripted_server.h"
#include "tests/support/status_matchers.h"

namespace embd::client {
namespace {

using ::embd::testing::ScriptedServer;
using ::embd::testing::StatusIs;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

TEST(ListModels, ReturnsEveryFieldOfEveryModel) {
  const ScriptedServer server({.list_models = Reply<v1::ListModelsRequest, v1::ListModelsResponse>(R"(
    models { name: "a" version: "2" generation: 3 position_encoding: POSITION_ENCODING_LEARNED vocab_size: 5
             embedding_dim: 7 max_context_length: 11 data_type: DATA_TYPE_FLOAT16 byte_size: 13 parameter_count: 17 }
    models { name: "b" })")});

  ASSERT_OK_AND_ASSIGN(const auto models, ConnectTo(server).ListModels());

  ASSERT_THAT(models, SizeIs(2));
  EXPECT_EQ(models[0].name, "a");
  EXPECT_EQ(models[0].version, "2");
  EXPECT_EQ(models[0].generation, 3);
  EXPECT_EQ(models[0].position_encoding, PositionEncoding::kLearned);
  EXPECT_EQ(models[0].vocab_size, 5);
  EXPECT_EQ(models[0].embedding_dim, 7);
  EXPECT_EQ(models[0].max_context_length, 11);
  EXPECT_EQ(models[0].data_type, DataType::kFloat16);
  EXPECT_EQ(models[0].byte_size, 13);
  EXPECT_EQ(models[0].parameter_count, 17);
  EXPECT_EQ(models[1].name, "b");
  EXPECT_EQ(models[1].max_context_length, std::nullopt);
}

TEST(DescribeModel, ReturnsEveryField) {
  std::string request;
  const ScriptedServer server(
      {.describe_model = Reply<v1::DescribeModelRequest, v1::DescribeModelResponse>(
           R"(name: "a" version: "2" generation: 3 checksum: "c" position_encoding: POSITION_ENCODING_ROTARY vocab_size: 5
              embedding_dim: 7 max_context_length: 11 parameter_count: 13 vocabulary_words: 5 sinusoidal_base: 100
              tables { kind: TABLE_KIND_TOKEN data_type: DATA_TYPE_BFLOAT16 shape: 5 shape: 7 element_count: 35
                       parameter_count: 34 byte_size: 70 checksum: "d" source: "s" }
              rotary { head_dim: 8 rotary_dim: 4 theta: 500 pairing: ROTARY_PAIRING_INTERLEAVED })",
           &request)});

  ASSERT_OK_AND_ASSIGN(const ModelDescription model,
                       ConnectTo(server).DescribeModel({.model = "a", .model_version = "2"}));

  EXPECT_EQ(request, R"(model: "a" model_version: "2")");
  EXPECT_EQ(model.name, "a");
  EXPECT_EQ(model.version, "2");
  EXPECT_EQ(model.generation, 3);
  EXPECT_EQ(model.checksum, "c");
  EXPECT_EQ(model.position_encoding, PositionEncoding::kRotary);
  EXPECT_EQ(model.vocab_size, 5);
  EXPECT_EQ(model.embedding_dim, 7);
  EXPECT_EQ(model.max_context_length, 11);
  EXPECT_EQ(model.parameter_count, 13);
  EXPECT_EQ(model.vocabulary_words, 5);
  EXPECT_EQ(model.sinusoidal_base, 100);
  ASSERT_THAT(model.tables, SizeIs(1));
  EXPECT_EQ(model.tables[0].kind, TableKind::kToken);
  EXPECT_EQ(model.tables[0].data_type, DataType::kBfloat16);
  EXPECT_THAT(model.tables[0].shape, ElementsAre(5, 7));
  EXPECT_EQ(model.tables[0].element_count, 35);
  EXPECT_EQ(model.tables[0].parameter_count, 34);
  EXPECT_EQ(model.tables[0].byte_size, 70);
  EXPECT_EQ(model.tables[0].checksum, "d");
  EXPECT_EQ(model.tables[0].source, "s");
  ASSERT_TRUE(model.rotary.has_value());
  EXPECT_EQ(model.rotary->head_dim, 8);
  EXPECT_EQ(model.rotary->rotary_dim, 4);
  EXPECT_EQ(model.rotary->theta, 500);
  EXPECT_EQ(model.rotary->pairing, RotaryPairing::kInterleaved);
}

TEST(DescribeModel, ReturnsHowTheInputStageComputes) {
  const ScriptedServer server({.describe_model = Reply<v1::DescribeModelRequest, v1::DescribeModelResponse>(R"(
    name: "a" architecture: "opt" numbering: POSITION_NUMBERING_MASK row_offset: 2 padding_idx: 1 token_scale: 0.5
    sinusoidal_layout: SINUSOIDAL_LAYOUT_HALF trained_context_length: 2048 has_token_types: true
    token_types_share_token_table: true token_types_only_when_sent: true position_before_type: true
    layer_norm_eps: 1e-12 zero_masked: true saturate: true
    out_of_range: OUT_OF_RANGE_POLICY_UNK unk_id: 3 out_of_range_ids: 7
    inferred_from { key: "k" value: "v" source: "s" } inferred_from { key: "l" } notes: "n"
    output_tied: true output_scale: 0.25 output_softcap: 30 has_output_bias: true)")});

  ASSERT_OK_AND_ASSIGN(const ModelDescription model, ConnectTo(server).DescribeModel({.model = "a"}));

  EXPECT_EQ(model.architecture, "opt");
  EXPECT_EQ(model.numbering, PositionNumbering::kMask);
  EXPECT_EQ(model.row_offset, 2);
  EXPECT_EQ(model.padding_idx, 1);
  EXPECT_EQ(model.token_scale, 0.5);
  EXPECT_EQ(model.sinusoidal_layout, SinusoidalLayout::kHalf);
  EXPECT_EQ(model.trained_context_length, 2048);
  EXPECT_TRUE(model.has_token_types);
  EXPECT_TRUE(model.token_types_share_token_table);
  EXPECT_TRUE(model.token_types_only_when_sent);
  EXPECT_TRUE(model.position_before_type);
  EXPECT_EQ(model.layer_norm_eps, 1e-12);
  EXPECT_TRUE(model.zero_masked);
  EXPECT_TRUE(model.saturate);
  EXPECT_EQ(model.out_of_range, OutOfRangePolicy::kUnk);
  EXPECT_EQ(model.unk_id, 3);
  EXPECT_EQ(model.out_of_range_ids, 7);
  ASSERT_THAT(model.inferred_from, SizeIs(2));
  EXPECT_EQ(model.inferred_from[0].key, "k");
  EXPECT_EQ(model.inferred_from[0].value, "v");
  EXPECT_EQ(model.inferred_from[0].source, "s");
  EXPECT_THAT(model.notes, ElementsAre("n"));
  EXPECT_TRUE(model.output_tied);
  EXPECT_EQ(model.output_scale, 0.25);
  EXPECT_EQ(model.output_softcap, 30);
  EXPECT_TRUE(model.has_output_bias);
}

TEST(DescribeModel, LeavesUnsetWhatTheModelHasNot) {
  const ScriptedServer server(
      {.describe_model = Reply<v1::DescribeModelRequest, v1::DescribeModelResponse>(R"(name: "a")")});

  ASSERT_OK_AND_ASSIGN(const ModelDescription model, ConnectTo(server).DescribeModel({.model = "a"}));

  EXPECT_EQ(model.max_context_length, std::nullopt);
  EXPECT_EQ(model.sinusoidal_base, std::nullopt);
  EXPECT_FALSE(model.rotary.has_value());
  EXPECT_EQ(model.padding_idx, std::nullopt);
  EXPECT_EQ(model.trained_context_length, std::nullopt);
  EXPECT_EQ(model.layer_norm_eps, std::nullopt);
  EXPECT_EQ(model.unk_id, std::nullopt);
  EXPECT_EQ(model.token_scale, 1);
  EXPECT_THAT(model.tables, IsEmpty());
}

TEST(LookUpTokens, ReturnsTheIds) {
  std::string request;
  const ScriptedServer server({.look_up_tokens = Reply<v1::LookUpTokensRequest, v1::LookUpTokensResponse>(
                                   R"(model: "a" model_version: "2" ids: 3 ids: 5)", &request)});

  ASSERT_OK_AND_ASSIGN(const TokenIds tokens, ConnectTo(server).LookUpTokens(
                                                  {.model = "a", .tokens = {"king", "queen"}, .model_version = "2"}));

  EXPECT_EQ(request, R"(model: "a" model_version: "2" tokens: "king" tokens: "queen")");
  EXPECT_EQ(tokens.model, "a");
  EXPECT_EQ(tokens.model_version, "2");
  EXPECT_THAT(tokens.ids, ElementsAre(3, 5));
}

TEST(NeighbourSimilarity, ReturnsTheCurve) {
  std::string request;
  const ScriptedServer server(
      {.neighbour_similarity = Reply<v1::NeighbourSimilarityRequest, v1::NeighbourSimilarityResponse>(
           R"(model: "a" model_version: "2" table: TABLE_KIND_POSITION rows: 9 mean_cosine: 0.5 min_cosine: 0.25
              max_cosine: 0.75 closed_form: 0.125 zero_rows: 1 monotone_steps: 3)",
           &request)});

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, ConnectTo(server).NeighbourSimilarity({.model = "a",
                                                                                          .table = TableKind::kToken,
                                                                                          .max_offset = 4,
                                                                                          .first_row = 5,
                                                                                          .row_count = 6,
                                                                                          .model_version = "2"}));

  EXPECT_EQ(request,
            R"(model: "a" model_version: "2" table: TABLE_KIND_TOKEN max_offset: 4 first_row: 5 row_count: 6)");
  EXPECT_EQ(curve.model, "a");
  EXPECT_EQ(curve.model_version, "2");
  EXPECT_EQ(curve.table, TableKind::kPosition);
  EXPECT_EQ(curve.rows, 9);
  EXPECT_THAT(curve.mean_cosine, ElementsAre(0.5));
  EXPECT_THAT(curve.min_cosine, ElementsAre(0.25));
  EXPECT_THAT(curve.max_cosine, ElementsAre(0.75));
  EXPECT_THAT(curve.closed_form, ElementsAre(0.125));
  EXPECT_EQ(curve.zero_rows, 1);
  EXPECT_EQ(curve.monotone_steps, 3);
}

TEST(GetServerInfo, ReturnsEveryField) {
  const ScriptedServer server({.get_server_info = Reply<v1::GetServerInfoRequest, v1::GetServerInfoResponse>(
                                   R"(version: "1.2.3" build: "b" api_revision: 4 capabilities: "embed_stream"
      simd_target: "AVX2" limits { max_request_bytes: 1 max_response_bytes: 2 max_batch_size: 3 max_sequence_length: 4
                                   max_bytes_in_flight: 5 })")});

  ASSERT_OK_AND_ASSIGN(const ServerInfo info, ConnectTo(server).GetServerInfo());

  EXPECT_EQ(info.version, "1.2.3");
  EXPECT_EQ(info.build, "b");
  EXPECT_EQ(info.api_revision, 4);
  EXPECT_THAT(info.capabilities, ElementsAre("embed_stream"));
  EXPECT_EQ(info.simd_target, "AVX2");
  EXPECT_EQ(info.limits.max_request_bytes, 1);
  EXPECT_EQ(info.limits.max_response_bytes, 2);
  EXPECT_EQ(info.limits.max_batch_size, 3);
  EXPECT_EQ(info.limits.max_sequence_length, 4);
  EXPECT_EQ(info.limits.max_bytes_in_flight, 5);
}

TEST(CheckHealth, TellsWhetherAServiceServes) {
  ScriptedServer server({});
  server.server().GetHealthCheckService()->SetServingStatus("a", true);
  server.server().GetHealthCheckService()->SetServingStatus("b", false);
  const Client client = ConnectTo(server);

  ASSERT_OK_AND_ASSIGN(const HealthStatus whole, client.CheckHealth());
  ASSERT_OK_AND_ASSIGN(const HealthStatus a, client.CheckHealth("a"));
  ASSERT_OK_AND_ASSIGN(const HealthStatus b, client.CheckHealth("b"));

  EXPECT_EQ(whole, HealthStatus::kServing);
  EXPECT_EQ(a, HealthStatus::kServing);
  EXPECT_EQ(b, HealthStatus::kNotServing);
}

TEST(CheckHealth, OfAnUnknownServiceIsNotFound) {
  const ScriptedServer server({});

  EXPECT_THAT(ConnectTo(server).CheckHealth("nothing"), StatusIs(absl::StatusCode::kNotFound, _));
}

}  // namespace
}  // namespace embd::client

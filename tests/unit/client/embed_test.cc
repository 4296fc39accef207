#include <cstddef>
#include <string>
#include <vector>

#include "embd/client/channel.h"
#include "embd/client/client.h"
#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "proto/wire/status.h"
#include "tests/support/scripted_server.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/client/tensor_reply.h"

namespace embd::client {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::Script;
using ::embd::testing::ScriptedServer;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const EmbedRequest kRequest = {.model = "m", .ids = {4, 5}, .batch_size = 1, .sequence_length = 2};

grpc::Status AnswerTwoByThree(grpc::ServerContext*, const v1::EmbedRequest& request, v1::EmbedResponse* response) {
  response->set_model(request.model());
  response->set_model_version("7");
  response->set_generation(3);
  response->set_checksum("c");
  response->add_warnings("w");
  response->add_row_lengths(2);
  SetTensor({1, 2, 3}, {1, 2, 3, 4, 5, 6}, response);
  return grpc::Status::OK;
}

class EmbedTest : public ::testing::Test {
 protected:
  static Client ConnectTo(const ScriptedServer& server) { return Client::Connect(server.address()).value(); }
};

grpc::Status AnswerElsewhere(grpc::ServerContext*, const v1::EmbedRequest& request, v1::EmbedResponse* response) {
  SetTensor({1, 2, 3}, {1, 2, 3, 4, 5, 6}, response);
  response->mutable_embeddings()->clear_data();
  *response->mutable_written() = request.output_target();
  response->mutable_written()->set_region("r");
  response->mutable_written()->set_byte_size(24);
  return grpc::Status::OK;
}

TEST_F(EmbedTest, ResultInARegionHasTypeAndShapeButNoElements) {
  const ScriptedServer server({.embed = AnswerElsewhere});
  EmbedRequest request = kRequest;
  request.output_target = SharedMemoryTarget{.region = "r", .offset = 64, .byte_size = 100};

  ASSERT_OK_AND_ASSIGN(const EmbedInfo info, ConnectTo(server).EmbedToRegion(request));
  ASSERT_OK_AND_ASSIGN(const Embedding embedding, ConnectTo(server).EmbedAsync(request).get());

  EXPECT_EQ(info.written, (SharedMemoryTarget{.region = "r", .offset = 64, .byte_size = 24}));
  EXPECT_THAT(info.shape, ElementsAre(1, 2, 3));
  EXPECT_EQ(embedding.info().written, info.written);
  EXPECT_EQ(embedding.bytes().size(), 0u);
}

TEST_F(EmbedTest, ResultThatIsNotWhereItShouldBeIsAnError) {
  const ScriptedServer elsewhere({.embed = AnswerElsewhere});
  const ScriptedServer in_reply({.embed = AnswerTwoByThree});
  const auto senseless =
      StatusIs(absl::StatusCode::kInternal, HasSubstr("it says that the tensor was written somewhere else"));
  EmbedRequest request = kRequest;

  EXPECT_THAT(ConnectTo(elsewhere).Embed(request), senseless);
  request.output_target = SharedMemoryTarget{.region = "r", .offset = 0, .byte_size = 24};
  EXPECT_THAT(ConnectTo(elsewhere).EmbedToRegion(request), IsOk());
  EXPECT_THAT(ConnectTo(in_reply).EmbedToRegion(request), senseless);
  request.output_target->byte_size = 23;
  EXPECT_THAT(ConnectTo(elsewhere).EmbedToRegion(request), senseless);
  request.output_target = SharedMemoryTarget{.region = "other", .offset = 0, .byte_size = 24};
  EXPECT_THAT(ConnectTo(elsewhere).EmbedToRegion(request), senseless);
}

TEST_F(EmbedTest, ReturnsTheTensorAndWhatTheReplySaysAboutIt) {
  const ScriptedServer server({.embed = AnswerTwoByThree});

  ASSERT_OK_AND_ASSIGN(const Embedding embedding, ConnectTo(server).Embed(kRequest));

  ASSERT_OK_AND_ASSIGN(const auto values, embedding.As<float>());
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(embedding.shape(), ElementsAre(1, 2, 3));
  EXPECT_EQ(embedding.data_type(), DataType::kFloat32);
  EXPECT_EQ(embedding.info().model, "m");
  EXPECT_EQ(embedding.info().model_version, "7");
  EXPECT_EQ(embedding.info().generation, 3);
  EXPECT_EQ(embedding.info().checksum, "c");
  EXPECT_THAT(embedding.info().warnings, ElementsAre("w"));
  EXPECT_THAT(embedding.info().row_lengths, ElementsAre(2));
}

TEST_F(EmbedTest, SendsEveryFieldOfTheRequest) {
  v1::EmbedRequest received;
  const ScriptedServer server({.embed = [&received](grpc::ServerContext* context, const v1::EmbedRequest& request,
                                                    v1::EmbedResponse* response) {
    received = request;
    return AnswerTwoByThree(context, request, response);
  }});

  ASSERT_THAT(ConnectTo(server).Embed({.model = "m",
                                       .ids = {1, -2},
                                       .batch_size = 3,
                                       .sequence_length = 4,
                                       .part = Part::kToken,
                                       .output_type = DataType::kBfloat16,
                                       .position_offsets = {5},
                                       .position_ids = {6, 7},
                                       .model_version = "8",
                                       .token_type_ids = {9},
                                       .row_lengths = {10, 0},
                                       .attention_mask = {0, 1},
                                       .ragged_layout = RaggedLayout::kPacked,
                                       .padding_side = PaddingSide::kLeft}),
              IsOk());

  EXPECT_EQ(received.ShortDebugString(),
            R"(model: "m" ids: 1 ids: -2 batch_size: 3 sequence_length: 4 part: PART_TOKEN )"
            R"(output_type: DATA_TYPE_BFLOAT16 position_offsets: 5 position_ids: 6 position_ids: 7 token_type_ids: 9 )"
            R"(row_lengths: 10 row_lengths: 0 attention_mask: 0 attention_mask: 1 model_version: "8" )"
            R"(ragged_layout: RAGGED_LAYOUT_PACKED padding_side: PADDING_SIDE_LEFT)");
}

TEST_F(EmbedTest, SendsVectorsInPlaceOfIds) {
  v1::EmbedRequest received;
  const ScriptedServer server({.embed = [&received](grpc::ServerContext* context, const v1::EmbedRequest& request,
                                                    v1::EmbedResponse* response) {
    received = request;
    return AnswerTwoByThree(context, request, response);
  }});
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};

  ASSERT_THAT(ConnectTo(server).Embed(
                  {.model = "m", .token_type_ids = {1}, .inputs_embeds = InputTensor::FromFloats(values, {1, 2, 3})}),
              IsOk());

  v1::EmbedResponse expected;
  SetTensor({1, 2, 3}, values, &expected);
  EXPECT_EQ(received.inputs_embeds().SerializeAsString(), expected.embeddings().SerializeAsString());
  EXPECT_EQ(received.model(), "m");
  EXPECT_THAT(received.token_type_ids(), ElementsAre(1));
}

TEST_F(EmbedTest, SendsVectorsOfNoElements) {
  v1::EmbedRequest received;
  const ScriptedServer server({.embed = [&received](grpc::ServerContext* context, const v1::EmbedRequest& request,
                                                    v1::EmbedResponse* response) {
    received = request;
    return AnswerTwoByThree(context, request, response);
  }});

  ASSERT_THAT(ConnectTo(server).Embed({.model = "m", .inputs_embeds = InputTensor::FromFloats({}, {0, 2, 3})}), IsOk());

  EXPECT_THAT(received.inputs_embeds().shape(), ElementsAre(0, 2, 3));
  EXPECT_EQ(received.inputs_embeds().data(), "");
}

TEST_F(EmbedTest, ReturnsAPackedTensor) {
  const ScriptedServer server({.embed = [](grpc::ServerContext*, const v1::EmbedRequest&, v1::EmbedResponse* response) {
    SetTensor({2, 3}, {1, 2, 3, 4, 5, 6}, response);
    return grpc::Status::OK;
  }});

  ASSERT_OK_AND_ASSIGN(const Embedding embedding, ConnectTo(server).Embed(kRequest));

  EXPECT_THAT(embedding.shape(), ElementsAre(2, 3));
  EXPECT_THAT(*embedding.As<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(EmbedTest, WorksOverAChannelOfTheCaller) {
  ScriptedServer server({.embed = AnswerTwoByThree});
  const Client client = FromChannel(server.server().InProcessChannel(grpc::ChannelArguments()));

  EXPECT_THAT(client.Embed(kRequest), IsOk());
}

TEST_F(EmbedTest, WorksOverAUnixSocket) {
  const ScriptedServer server({.embed = AnswerTwoByThree}, "unix:" + ::testing::TempDir() + "embd_embed_test.sock");

  EXPECT_THAT(ConnectTo(server).Embed(kRequest), IsOk());
}

TEST_F(EmbedTest, ReceivesRepliesAboveTheDefaultLimitOfGrpc) {
  const std::size_t count = 3'000'000;  // 12 MB
  const ScriptedServer server({.embed = [](grpc::ServerContext*, const v1::EmbedRequest&, v1::EmbedResponse* response) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
    SetTensor({1, 1, static_cast<std::int64_t>(count)}, values, response);
    return grpc::Status::OK;
  }});
  std::vector<float> out(count);

  ASSERT_THAT(ConnectTo(server).EmbedInto(kRequest, out), IsOk());

  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], static_cast<float>(i));
}

TEST_F(EmbedTest, SendsRequestsAboveTheDefaultLimitOfGrpc) {
  const ScriptedServer server({.embed = AnswerTwoByThree});
  EmbedRequest request = kRequest;
  request.ids.assign(3'000'000, 50'000);  // 9 MB

  EXPECT_THAT(ConnectTo(server).Embed(request), IsOk());
}

TEST_F(EmbedTest, PutsElementsIntoTheMemoryOfTheCaller) {
  const ScriptedServer server({.embed = AnswerTwoByThree});
  std::vector<float> out(6, -1);

  ASSERT_OK_AND_ASSIGN(const EmbedInfo info,
                       ConnectTo(server).EmbedInto(kRequest, std::as_writable_bytes(std::span(out))));

  EXPECT_THAT(out, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(info.shape, ElementsAre(1, 2, 3));
}

TEST_F(EmbedTest, MemoryOfAnotherSizeIsLeftAloneAndBothSizesAreNamed) {
  const ScriptedServer server({.embed = AnswerTwoByThree});
  for (const std::size_t count : {0u, 5u, 7u}) {
    SCOPED_TRACE(count);
    std::vector<float> out(count, -1);

    EXPECT_THAT(ConnectTo(server).EmbedInto(kRequest, out),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("has " + std::to_string(4 * count) + " bytes"), HasSubstr("has 24:"),
                               HasSubstr("float32 of shape (1, 2, 3)"))));
    EXPECT_THAT(out, Each(-1));
  }
}

TEST_F(EmbedTest, MemoryForFloatsTakesNoOtherType) {
  const ScriptedServer server(
      {.embed = [](grpc::ServerContext* context, const v1::EmbedRequest& request, v1::EmbedResponse* response) {
        AnswerTwoByThree(context, request, response);
        response->mutable_embeddings()->set_data_type(v1::DATA_TYPE_FLOAT16);
        response->mutable_embeddings()->set_shape(2, 6);
        return grpc::Status::OK;
      }});
  std::vector<float> out(6, -1);

  EXPECT_THAT(ConnectTo(server).EmbedInto(kRequest, out),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the result is float16")));
  EXPECT_THAT(out, Each(-1));
}

TEST_F(EmbedTest, RefusalOfTheServerKeepsItsReasonAndLeavesMemoryAlone) {
  const ScriptedServer server({.embed = [](grpc::ServerContext*, const v1::EmbedRequest&, v1::EmbedResponse*) {
    return wire::ToGrpcStatus(
        ErrorWithReason(absl::StatusCode::kInvalidArgument, "ID_OUT_OF_RANGE", "ids[0][1] = 5 is outside [0, 5)"));
  }});
  std::vector<float> out(6, -1);

  const auto result = ConnectTo(server).EmbedInto(kRequest, out);

  EXPECT_THAT(result, AllOf(StatusIs(absl::StatusCode::kInvalidArgument, "ids[0][1] = 5 is outside [0, 5)"),
                            ReasonIs("ID_OUT_OF_RANGE")));
  EXPECT_EQ(ErrorReason(result.status()), "ID_OUT_OF_RANGE");
  EXPECT_THAT(out, Each(-1));
}

TEST_F(EmbedTest, SenselessReplyIsInternalAndLeavesMemoryAlone) {
  const ScriptedServer server(
      {.embed = [](grpc::ServerContext* context, const v1::EmbedRequest& request, v1::EmbedResponse* response) {
        AnswerTwoByThree(context, request, response);
        response->mutable_embeddings()->set_shape(2, 2);
        return grpc::Status::OK;
      }});
  std::vector<float> out(6, -1);

  EXPECT_THAT(ConnectTo(server).EmbedInto(kRequest, out),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("24 bytes are no float32 tensor of shape (1, 2, 2)")));
  EXPECT_THAT(out, Each(-1));
}

TEST_F(EmbedTest, EmptyBatchIsAnEmptyTensor) {
  const ScriptedServer server({.embed = [](grpc::ServerContext*, const v1::EmbedRequest&, v1::EmbedResponse* response) {
    SetTensor({0, 2, 3}, {}, response);
    return grpc::Status::OK;
  }});

  ASSERT_OK_AND_ASSIGN(const Embedding embedding, ConnectTo(server).Embed(kRequest));

  EXPECT_TRUE(embedding.bytes().empty());
  EXPECT_THAT(embedding.shape(), ElementsAre(0, 2, 3));
}

TEST(Embedding, GivesItsElementsInTheirOwnTypeOnly) {
  const Embedding embedding({.data_type = DataType::kFloat16, .shape = {2}}, std::make_unique<std::byte[]>(4), 4);

  EXPECT_THAT(embedding.As<float>(),
              StatusIs(absl::StatusCode::kFailedPrecondition, "the elements are float16, not float32"));
  ASSERT_OK_AND_ASSIGN(const auto bits, embedding.As<std::uint16_t>());
  EXPECT_EQ(bits.size(), 2u);
}

}  // namespace
}  // namespace embd::client

#include "client/src/chunk_choice.h"

#include <atomic>
#include <string>
#include <vector>

#include "embd/client/client.h"
#include "gmock/gmock.h"
#include "tests/support/scripted_server.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/client/tensor_reply.h"

namespace embd::client {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ScriptedServer;
using ::embd::testing::StatusIs;

EmbedRequest Cells(std::int64_t batch, std::int64_t tokens) {
  return {.model = "m", .batch_size = batch, .sequence_length = tokens};
}

TEST(ExpectedRows, AreThoseOfTheResult) {
  EXPECT_EQ(ExpectedRows(Cells(8, 512)), 4096);
  EXPECT_EQ(ExpectedRows({.row_lengths = {3, 0, 7}}), 21);
  EXPECT_EQ(ExpectedRows({.sequence_length = 9, .row_lengths = {3, 0, 7}}), 27);
  EXPECT_EQ(ExpectedRows({.row_lengths = {3, 0, 7}, .ragged_layout = RaggedLayout::kPacked}), 10);
  EXPECT_EQ(ExpectedRows({.inputs_embeds = InputTensor{.shape = {2, 3, 5}}}), 6);
  EXPECT_EQ(ExpectedRows({.batch_size = 2, .sequence_length = 3, .inputs_embeds = InputTensor{.shape = {1}}}), 6);
}

TEST(ExpectedRows, OfNonsenseAreSomeNumber) {
  EXPECT_EQ(ExpectedRows(Cells(-1, 512)), 0);
  EXPECT_EQ(ExpectedRows(Cells(INT64_MAX, INT64_MAX)), INT64_MAX);
  EXPECT_EQ(ExpectedRows({.row_lengths = {INT64_MAX, 1}, .ragged_layout = RaggedLayout::kPacked}), INT64_MAX);
  EXPECT_EQ(ExpectedRows({.row_lengths = {-5}}), 0);
}

TEST(ChunkChoice, TakesChunksFromHalfAMebibyteOn) {
  ChunkChoice choice;
  choice.Learn("m", {.shape = {1, 1, 1024}});

  EXPECT_FALSE(choice.UseChunks(Cells(1, 127), {}));
  EXPECT_TRUE(choice.UseChunks(Cells(1, 128), {}));
  EmbedRequest narrow = Cells(1, 255);
  narrow.output_type = DataType::kBfloat16;
  EXPECT_FALSE(choice.UseChunks(narrow, {}));
  narrow.sequence_length = 256;
  EXPECT_TRUE(choice.UseChunks(narrow, {}));
}

TEST(ChunkChoice, GoesByCellsUntilTheModelIsKnown) {
  ChunkChoice choice;

  EXPECT_FALSE(choice.UseChunks(Cells(1, 255), {}));
  EXPECT_TRUE(choice.UseChunks(Cells(1, 256), {}));
  choice.Learn("m", {.shape = {1, 1, 4}});
  EXPECT_FALSE(choice.UseChunks(Cells(1, 256), {}));
}

TEST(ChunkChoice, DoesAsItIsTold) {
  ChunkChoice choice;
  choice.ServerHasNoChunks();

  EXPECT_FALSE(choice.UseChunks(Cells(64, 512), {}));
  EXPECT_FALSE(choice.UseChunks(Cells(64, 512), {.chunks = Chunks::kNever}));
  EXPECT_TRUE(choice.UseChunks(Cells(1, 1), {.chunks = Chunks::kAlways}));
}

TEST(ChunkChoice, ForgetsRatherThanGrows) {
  ChunkChoice choice;
  for (int i = 0; i < 1024; ++i) choice.Learn("other" + std::to_string(i), {.shape = {4}});
  choice.Learn("m", {.shape = {4}});

  EXPECT_FALSE(choice.UseChunks(Cells(1, 256), {})) << "the last one is known";
  EmbedRequest first = Cells(1, 256);
  first.model = "other0";
  EXPECT_TRUE(choice.UseChunks(first, {})) << "the first one is not, any more";
}

// What calls a server has seen, of which only Embed is known to it.
class OldServer {
 public:
  OldServer()
      : server_({.embed =
                     [this](grpc::ServerContext*, const v1::EmbedRequest&, v1::EmbedResponse* response) {
                       ++embed;
                       SetTensor({1, 1, 4096}, std::vector<float>(4096), response);
                       return grpc::Status::OK;
                     },
                 .embed_chunks =
                     [this](grpc::ServerContext*, const v1::EmbedChunksRequest&, auto*) {
                       ++chunks;
                       return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
                     }}),
        client(Client::Connect(server_.address()).value()) {}

  std::atomic<int> embed = 0;
  std::atomic<int> chunks = 0;

 private:
  ScriptedServer server_;

 public:
  Client client;
};

TEST(ChunkChoice, ServerWithoutChunksIsAskedForThemOnce) {
  OldServer server;

  EXPECT_THAT(server.client.Embed(Cells(64, 512)), IsOk());
  EXPECT_THAT(server.client.Embed(Cells(64, 512)), IsOk());

  EXPECT_EQ(server.chunks, 1);
  EXPECT_EQ(server.embed, 2);
}

TEST(ChunkChoice, ServerWithoutChunksIsAnErrorWhereTheCallInsists) {
  OldServer server;

  EXPECT_THAT(server.client.Embed(Cells(1, 1), {.chunks = Chunks::kAlways}),
              StatusIs(absl::StatusCode::kUnimplemented, ""));

  EXPECT_EQ(server.embed, 0);
}

TEST(ChunkChoice, WidthIsLearnedFromReplies) {
  OldServer server;
  ASSERT_THAT(server.client.Embed(Cells(1, 1)), IsOk());
  ASSERT_EQ(server.chunks, 0);

  ASSERT_THAT(server.client.Embed(Cells(1, 32)), IsOk());  // 512 KiB of that width

  EXPECT_EQ(server.chunks, 1);
}

}  // namespace
}  // namespace embd::client

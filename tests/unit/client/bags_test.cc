#include "embd/client/bags.h"

#include <cstdint>
#include <string>
#include <vector>

#include "embd/client/client.h"
#include "gmock/gmock.h"
#include "tests/support/scripted_server.h"
#include "tests/support/status_matchers.h"

namespace embd::client {
namespace {

using ::embd::testing::ScriptedServer;
using ::embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Client ConnectTo(const ScriptedServer& server) { return Client::Connect(server.address()).value(); }

void AddTensor(const std::vector<float>& values, std::int64_t rows, v1::EmbedBagsResponse* response) {
  v1::Tensor& tensor = *response->add_embeddings();
  tensor.set_data_type(v1::DATA_TYPE_FLOAT32);
  tensor.add_shape(rows);
  tensor.add_shape(static_cast<std::int64_t>(values.size()) / rows);
  tensor.set_data(values.data(), values.size() * sizeof(float));
}

TEST(BagsOverGrpc, SendEveryFieldAndReadEveryTensor) {
  v1::EmbedBagsRequest received;
  const ScriptedServer server({.embed_bags = [&received](grpc::ServerContext*, const v1::EmbedBagsRequest& request,
                                                         v1::EmbedBagsResponse* response) {
    received = request;
    for (const char* const name : {"a", "b"}) {
      response->add_models(name);
      response->add_checksums(std::string("sum-") + name);
    }
    AddTensor({1, 2, 3, 4}, 2, response);
    AddTensor({5}, 1, response);
    return grpc::Status::OK;
  }});

  ASSERT_OK_AND_ASSIGN(
      const PooledBags pooled,
      ConnectTo(server).EmbedBags({.bags = {{.model = "a",
                                             .ids = {7, 300},
                                             .row_lengths = {0, 2},
                                             .weights = {0.5f, -1},
                                             .mode = BagMode::kSqrtN,
                                             .model_version = "3"},
                                            {.model = "b",
                                             .ids_tensor = InputTensor{.data_type = DataType::kInt32,
                                                                       .shape = {1, 1},
                                                                       .bytes = std::vector<std::byte>(4)}}},
                                   .output_type = DataType::kBfloat16,
                                   .concatenate = true}));

  ASSERT_EQ(received.bags_size(), 2);
  EXPECT_EQ(received.bags(0).ShortDebugString(),
            R"(model: "a" row_lengths: 0 row_lengths: 2 weights: 0.5 weights: -1 )"
            R"(mode: BAG_MODE_SQRTN model_version: "3" )"
            R"(ids_tensor { data_type: DATA_TYPE_INT32 shape: 2 data: "\007\000\000\000,\001\000\000" })");
  EXPECT_EQ(received.bags(1).ids_tensor().data_type(), v1::DATA_TYPE_INT32);
  EXPECT_THAT(received.bags(1).ids_tensor().shape(), ElementsAre(1, 1));
  EXPECT_THAT(received.bags(1).ids_tensor().data(), SizeIs(4));
  EXPECT_EQ(received.output_type(), v1::DATA_TYPE_BFLOAT16);
  EXPECT_TRUE(received.concatenate());
  EXPECT_THAT(pooled.models, ElementsAre("a", "b"));
  EXPECT_THAT(pooled.checksums, ElementsAre("sum-a", "sum-b"));
  ASSERT_THAT(pooled.embeddings, SizeIs(2));
  EXPECT_THAT(pooled.embeddings[0].shape, ElementsAre(2, 2));
  ASSERT_OK_AND_ASSIGN(const auto values, pooled.embeddings[0].floats());
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4));
}

TEST(BagsOverGrpc, IdsThatAreNoInt32AndThoseWithoutLengthsGoAsTheyAre) {
  v1::EmbedBagsRequest received;
  const ScriptedServer server(
      {.embed_bags = [&received](grpc::ServerContext*, const v1::EmbedBagsRequest& request, v1::EmbedBagsResponse*) {
        received = request;
        return grpc::Status::CANCELLED;
      }});

  EXPECT_FALSE(ConnectTo(server)
                   .EmbedBags({.bags = {{.ids = {1, std::int64_t{1} << 31}, .row_lengths = {2}}, {.ids = {1}}}})
                   .ok());

  ASSERT_EQ(received.bags_size(), 2);
  EXPECT_THAT(received.bags(0).ids(), ElementsAre(1, std::int64_t{1} << 31));
  EXPECT_FALSE(received.bags(0).has_ids_tensor());
  EXPECT_THAT(received.bags(1).ids(), ElementsAre(1));
}

TEST(BagsOverGrpc, RepliesThatMakeNoSenseAreInternal) {
  const auto ask = [](auto spoil) {
    const ScriptedServer server(
        {.embed_bags = [&spoil](grpc::ServerContext*, const v1::EmbedBagsRequest&, v1::EmbedBagsResponse* response) {
          for (int i = 0; i < 3; ++i) {
            response->add_models("m");
            response->add_checksums("c");
            AddTensor({1, 2}, 1, response);
          }
          spoil(response);
          return grpc::Status::OK;
        }});
    return ConnectTo(server).EmbedBags({}).status();
  };
  constexpr auto kInternal = absl::StatusCode::kInternal;
  EXPECT_THAT(ask([](v1::EmbedBagsResponse* r) { r->mutable_checksums()->RemoveLast(); }),
              StatusIs(kInternal, HasSubstr("models and checksums differ in length")));
  EXPECT_THAT(ask([](v1::EmbedBagsResponse* r) { r->mutable_embeddings()->RemoveLast(); }),
              StatusIs(kInternal, HasSubstr("embeddings are not as many as models")));
  EXPECT_THAT(ask([](v1::EmbedBagsResponse* r) { r->mutable_embeddings(2)->set_shape(0, 2); }),
              StatusIs(kInternal, HasSubstr("elements are not as many as its shape says")));
}

}  // namespace
}  // namespace embd::client

#include "embd/client/project.h"

#include <cmath>
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

using ::embd::testing::ScriptedServer;
using ::embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Answers with `reply`, in text format, and keeps the request.
ScriptedServer Answering(const std::string& reply, v1::ProjectRequest* request = nullptr) {
  return ScriptedServer({.project = [reply, request](grpc::ServerContext*, const v1::ProjectRequest& received,
                                                     v1::ProjectResponse* response) {
    if (request != nullptr) *request = received;
    return google::protobuf::TextFormat::ParseFromString(reply, response)
               ? grpc::Status::OK
               : grpc::Status(grpc::StatusCode::INTERNAL, "the test's reply is no such message");
  }});
}

absl::StatusOr<Projection> Ask(const ScriptedServer& server, const ProjectRequest& request = {}) {
  return Client::Connect(server.address()).value().Project(request);
}

// float32 1, 2, 0.5
#define EMBD_ONE R"(\000\000\200\077)"
#define EMBD_TWO R"(\000\000\000\100)"
#define EMBD_HALF R"(\000\000\000\077)"

TEST(Project, SendsEveryField) {
  v1::ProjectRequest sent;
  const ScriptedServer server = Answering(R"(scores { data_type: DATA_TYPE_FLOAT32 shape: 0 shape: 0 })", &sent);
  const std::vector<float> vectors = {1, 2};

  ASSERT_OK_AND_ASSIGN(const Projection projection, Ask(server, {.model = "a",
                                                                 .vectors = InputTensor::FromFloats(vectors, {1, 2}),
                                                                 .top_k = 3,
                                                                 .scale = 0.5,
                                                                 .softcap = 30.0,
                                                                 .raw_scores = true,
                                                                 .log_probabilities = true,
                                                                 .candidate_ids = {5, 7},
                                                                 .with_tokens = true,
                                                                 .model_version = "2"}));

  EXPECT_EQ(sent.ShortDebugString(),
            R"(model: "a" model_version: "2" top_k: 3 scale: 0.5 softcap: 30 raw_scores: true )"
            R"(log_probabilities: true candidate_ids: 5 candidate_ids: 7 with_tokens: true )"
            R"(vectors { data_type: DATA_TYPE_FLOAT32 shape: 1 shape: 2 data: "\000\000\200?\000\000\000@" })");
  EXPECT_THAT(projection.ids, IsEmpty());
}

TEST(Project, ReturnsEveryField) {
  const ScriptedServer server = Answering(
      R"(model: "a" model_version: "2" tied: true tokens: "x" tokens: "y" ids: 4 ids: 2
         log_sum_exp { data_type: DATA_TYPE_FLOAT32 shape: 1 data: ")" EMBD_HALF R"(" }
         scores { data_type: DATA_TYPE_FLOAT32 shape: 1 shape: 2 data: ")" EMBD_TWO EMBD_ONE R"(" })");

  ASSERT_OK_AND_ASSIGN(const Projection projection, Ask(server));

  EXPECT_EQ(projection.model, "a");
  EXPECT_EQ(projection.model_version, "2");
  EXPECT_TRUE(projection.tied);
  EXPECT_EQ(projection.k, 2);
  EXPECT_THAT(projection.ids, ElementsAre(4, 2));
  EXPECT_THAT(projection.tokens, ElementsAre("x", "y"));
  EXPECT_THAT(projection.scores, ElementsAre(2, 1));
  EXPECT_THAT(projection.log_sum_exp, ElementsAre(0.5));
}

TEST(Project, AReplyWhoseListsDifferInLengthIsRefused) {
  const ScriptedServer server =
      Answering(R"(ids: 4 scores { data_type: DATA_TYPE_FLOAT32 shape: 1 shape: 2 data: ")" EMBD_TWO EMBD_ONE R"(" })");

  EXPECT_THAT(Ask(server), StatusIs(absl::StatusCode::kInternal, HasSubstr("differ in length")));
}

class FakeProject : public ::testing::Test {
 protected:
  FakeProject() {
    fake_->AddModel({.name = "m",
                     .embedding_dim = 2,
                     .token = {1, 0, 0, 1, 1, 0},
                     .vocabulary = {"a", "b", "c"},
                     .output_scale = 0.5,
                     .output_bias = {0, 3, 0}});
  }

  // Projects the vector (2, 4).
  absl::StatusOr<Projection> Ask(ProjectRequest request) {
    const std::vector<float> vector = {2, 4};
    request.model = "m";
    request.vectors = InputTensor::FromFloats(vector, {2});
    return Client(fake_).Project(request);
  }

  std::shared_ptr<FakeTransport> fake_ = std::make_shared<FakeTransport>();
};

TEST_F(FakeProject, ScoresAsTheModelDoes) {
  ASSERT_OK_AND_ASSIGN(const Projection projection, Ask({.with_tokens = true}));

  EXPECT_TRUE(projection.tied);
  EXPECT_THAT(projection.ids, ElementsAre(1, 0, 2));
  EXPECT_THAT(projection.scores, ElementsAre(5, 1, 1));
  EXPECT_THAT(projection.tokens, ElementsAre("b", "a", "c"));
}

TEST_F(FakeProject, ScoresCandidatesRaw) {
  ASSERT_OK_AND_ASSIGN(const Projection projection, Ask({.raw_scores = true, .candidate_ids = {2, 1}}));

  EXPECT_THAT(projection.ids, ElementsAre(2, 1));
  EXPECT_THAT(projection.scores, ElementsAre(2, 4));
}

TEST_F(FakeProject, TakesTheSoftmax) {
  ASSERT_OK_AND_ASSIGN(const Projection projection, Ask({.top_k = 1, .log_probabilities = true}));

  const double sum = std::exp(5.0) + 2 * std::exp(1.0);
  EXPECT_THAT(projection.scores, ElementsAre(::testing::FloatNear(static_cast<float>(5 - std::log(sum)), 1e-6f)));
  EXPECT_THAT(projection.log_sum_exp, ElementsAre(::testing::FloatNear(static_cast<float>(std::log(sum)), 1e-6f)));
}

}  // namespace
}  // namespace embd::client

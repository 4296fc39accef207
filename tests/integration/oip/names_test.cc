// What a request names, and what a reply says of itself.

#include <string>

#include "tests/integration/oip/oip_server.h"

namespace embd {
namespace {

using ::embd::testing::IdsRequest;
using ::embd::testing::InferRequest;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::Refused;
using ::embd::testing::RequestFor;
using ::embd::testing::StatusIs;
using ::testing::AllOf;

using NamesOfModels = testing::OipServer;

TEST_F(NamesOfModels, UnknownModelIsNotFound) {
  InferRequest request = IdsRequest();
  request.set_model_name("foo");
  ExpectRefused(request, AllOf(StatusIs(absl::StatusCode::kNotFound, "Request for unknown model: 'foo' is not found"),
                               ReasonIs("MODEL_NOT_FOUND")));
}

TEST_F(NamesOfModels, EmptyNameIsNotFound) {
  ExpectRefused(RequestFor(""), StatusIs(absl::StatusCode::kNotFound, "Request for unknown model: '' is not found"));
}

TEST_F(NamesOfModels, UnknownVersionIsNotFound) {
  InferRequest request = IdsRequest();
  request.set_model_version("99");
  ExpectRefused(
      request, AllOf(StatusIs(absl::StatusCode::kNotFound, "Request for unknown model: 'tiny' version 99 is not found"),
                     ReasonIs("VERSION_NOT_FOUND")));
}

TEST_F(NamesOfModels, VersionThatIsNoNumberIsRefused) {
  for (const std::string version : {"v1.2.3", "latest", "1.0", " ", "99999999999999999999"}) {
    InferRequest request = IdsRequest();
    request.set_model_version(version);
    ExpectRefused(request, Refused("INVALID_OPTION", "failed to get model version from specified version string '" +
                                                         version + "'; it should be a number, or '1'"));
  }
}

TEST_F(NamesOfModels, EmptyVersionMeansTheOneThatIsServedAndTheReplySaysIt) {
  for (const std::string version : {"", "1"}) {
    InferRequest request = IdsRequest();
    request.set_model_version(version);

    const auto response = Infer(request);

    ASSERT_THAT(response, IsOk());
    EXPECT_EQ(response->model_name(), "tiny");
    EXPECT_EQ(response->model_version(), "1");
  }
}

TEST_F(NamesOfModels, IdComesBack) {
  for (const std::string& id : {std::string(), std::string("42"), std::string("héé"), std::string(1024, 'i')}) {
    InferRequest request = IdsRequest();
    request.set_id(id);

    const auto response = Infer(request);

    ASSERT_THAT(response, IsOk());
    EXPECT_EQ(response->id(), id);
  }
}

TEST_F(NamesOfModels, IdThatIsTooLongIsRefused) {
  InferRequest request = IdsRequest();
  request.set_id(std::string(1025, 'i'));
  ExpectRefused(request, Refused("INVALID_OPTION", "id has 1025 bytes; at most 1024 are allowed"));
}

TEST_F(NamesOfModels, ReplyDescribesTheTablesThatAnswered) {
  const auto response = Infer(IdsRequest());

  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->parameters().at("generation").int64_param(), 1);
  EXPECT_EQ(response->parameters().at("checksum").string_param().size(), 64u);
  EXPECT_EQ(response->parameters().count("warnings"), 0u);
}

}  // namespace
}  // namespace embd

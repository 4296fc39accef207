// What the calls of the repository take for names; the cases of Triton's L0_input_validation and of MLServer's
// repository.

#include <string>

#include "tests/integration/oip/oip_server.h"

namespace embd {
namespace {

using ::embd::testing::IdsRequest;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::Refused;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Repository : public testing::OipServer {
 protected:
  Repository() : OipServer(ExplicitConfig()) {}

  static config::ServerConfig ExplicitConfig() {
    config::ServerConfig config = Config();
    config.explicit_model_control = true;
    return config;
  }

  absl::Status Load(const std::string& name) {
    ::inference::RepositoryModelLoadRequest request;
    request.set_model_name(name);
    return Load(request);
  }
  absl::Status Load(const ::inference::RepositoryModelLoadRequest& request) {
    grpc::ClientContext context;
    ::inference::RepositoryModelLoadResponse response;
    return wire::FromGrpcStatus(stub().RepositoryModelLoad(&context, request, &response));
  }
  absl::Status Unload(const std::string& name) {
    ::inference::RepositoryModelUnloadRequest request;
    request.set_model_name(name);
    grpc::ClientContext context;
    ::inference::RepositoryModelUnloadResponse response;
    return wire::FromGrpcStatus(stub().RepositoryModelUnload(&context, request, &response));
  }
};

TEST_F(Repository, BlankNamesAreRefused) {
  for (const std::string& name :
       {std::string(), std::string(" "), std::string("   "), std::string("\t"), std::string("\n"), std::string("\r"),
        std::string("\f"), std::string("\v"), std::string(" \t \n ")}) {
    EXPECT_THAT(Load(name),
                Refused("INVALID_OPTION", "Model name cannot be empty. Please enter a valid name to deploy."));
  }
}

TEST_F(Repository, NamesThatArePathsAreRefused) {
  for (const std::string name :
       {"../../../../etc", "model/..", "..", "/etc/passwd", "model/subdir", "model/", " ..", ".. ", "..\\etc"}) {
    EXPECT_THAT(Load(name),
                Refused("INVALID_OPTION", HasSubstr("model name must not contain path traversal characters")));
  }
}

TEST_F(Repository, NamesThatNoModelHasAreNotFound) {
  for (const std::string name : {"model123", "model.version1", "...", "..my_model", "model..1", "foo"}) {
    EXPECT_THAT(Load(name),
                AllOf(StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr("failed to load '" + name + "', failed to poll from model repository")),
                      ReasonIs("MODEL_NOT_FOUND")));
  }
}

TEST_F(Repository, UnloadingAPathIsNotFoundLikeAnyOtherName) {
  for (const std::string name : {"..", "/etc/passwd", "model/", ""}) {
    EXPECT_THAT(Unload(name), AllOf(StatusIs(absl::StatusCode::kNotFound, HasSubstr("failed to unload")),
                                    ReasonIs("MODEL_NOT_FOUND")));
  }
}

TEST_F(Repository, FilesAndConfigurationsAreNotTakenFromCallers) {
  for (const std::string parameter : {"config", "file:1/model.onnx"}) {
    ::inference::RepositoryModelLoadRequest request;
    request.set_model_name("tiny");
    (*request.mutable_parameters())[parameter].set_string_param("{}");
    EXPECT_THAT(Load(request), Refused("INVALID_OPTION", HasSubstr("parameter '" + parameter + "' is not supported")));
  }
}

TEST_F(Repository, AnotherRepositoryIsNotSupported) {
  ::inference::RepositoryModelLoadRequest request;
  request.set_model_name("tiny");
  request.set_repository_name("other");
  EXPECT_THAT(Load(request), StatusIs(absl::StatusCode::kUnimplemented,
                                      HasSubstr("'repository_name' specification is not supported")));
}

// Field 1 is the model's name in KServe's messages, the repository's in Triton's.
TEST_F(Repository, MessagesOfKServeAreRefusedByWhatTheyMeanHere) {
  ::inference::RepositoryModelLoadRequest request;
  ASSERT_TRUE(request.ParseFromString(std::string("\x0A\x04tiny", 6)));

  EXPECT_THAT(Load(request), StatusIs(absl::StatusCode::kUnimplemented,
                                      HasSubstr("'repository_name' specification is not supported: there is one")));
  EXPECT_THAT(Infer(IdsRequest()), IsOk());
}

TEST_F(Repository, RefusedLoadsLeaveTheModelServed) {
  EXPECT_THAT(Load("tiny/"), Not(IsOk()));
  EXPECT_THAT(Load("foo"), Not(IsOk()));
  EXPECT_THAT(Infer(IdsRequest()), IsOk());
}

TEST_F(Repository, UnloadedModelIsNotReadyUntilItIsLoaded) {
  EXPECT_THAT(Unload("tiny"), IsOk());
  EXPECT_THAT(Unload("tiny"), IsOk()) << "it is not served already";
  EXPECT_THAT(Infer(IdsRequest()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("Request for unknown model: 'tiny' is not ready")));
  EXPECT_THAT(Load("tiny"), IsOk());
  EXPECT_THAT(Infer(IdsRequest()), IsOk());
}

}  // namespace
}  // namespace embd

// What a server tells of itself while it serves and while it drains.

#include "grpcpp/grpcpp.h"
#include "tests/integration/oip/inside_server.h"
#include "tests/support/identity_servable.h"

namespace embd {
namespace {

class Readiness : public testing::InsideServer {
 protected:
  Readiness() : InsideServer({std::make_shared<testing::IdentityServable>()}) {}

  bool ServerLive() {
    grpc::ClientContext context;
    ::inference::ServerLiveResponse response;
    EXPECT_TRUE(stub().ServerLive(&context, {}, &response).ok());
    return response.live();
  }
  bool ServerReady() {
    grpc::ClientContext context;
    ::inference::ServerReadyResponse response;
    EXPECT_TRUE(stub().ServerReady(&context, {}, &response).ok());
    return response.ready();
  }
  bool ModelReady(const std::string& name, const std::string& version = "") {
    grpc::ClientContext context;
    ::inference::ModelReadyRequest request;
    request.set_name(name);
    request.set_version(version);
    ::inference::ModelReadyResponse response;
    EXPECT_TRUE(stub().ModelReady(&context, request, &response).ok());
    return response.ready();
  }
};

TEST_F(Readiness, ServingServerIsLiveAndReadyWithItsModels) {
  EXPECT_TRUE(ServerLive());
  EXPECT_TRUE(ServerReady());
  EXPECT_TRUE(ModelReady("m"));
  EXPECT_TRUE(ModelReady("m", "1"));
  EXPECT_TRUE(ModelReady("identity_fp32"));
}

TEST_F(Readiness, ModelsAndVersionsThatAreNotServedAreNotReadyWithoutAnError) {
  EXPECT_FALSE(ModelReady("foo"));
  EXPECT_FALSE(ModelReady(""));
  EXPECT_FALSE(ModelReady("m", "99"));
  EXPECT_FALSE(ModelReady("m", "latest"));
}

TEST_F(Readiness, DrainingServerIsLiveButNotReady) {
  BeginToDrain();

  EXPECT_TRUE(ServerLive());
  EXPECT_FALSE(ServerReady());
  EXPECT_FALSE(ModelReady("m"));
}

}  // namespace
}  // namespace embd

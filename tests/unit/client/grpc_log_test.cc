#include "embd/client/grpc_log.h"

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "grpc/support/log.h"

namespace embd::client {
namespace {

using ::testing::HasSubstr;

class GrpcLog : public ::testing::Test {
 protected:
  GrpcLog() { gpr_log_verbosity_init(); }  // else done by the first channel, if there has been one
  ~GrpcLog() override {
    unsetenv("GRPC_VERBOSITY");
    gpr_set_log_function(nullptr);  // the standard one
  }

  static std::string WrittenByGrpc() {
    ::testing::internal::CaptureStderr();
    gpr_log(GPR_ERROR, "a line");
    return ::testing::internal::GetCapturedStderr();
  }
};

TEST_F(GrpcLog, IsSilencedOnRequest) {
  unsetenv("GRPC_VERBOSITY");
  ASSERT_THAT(WrittenByGrpc(), HasSubstr("a line"));

  SilenceGrpcLog();

  EXPECT_EQ(WrittenByGrpc(), "");
}

TEST_F(GrpcLog, IsKeptWhereTheVariableAsksForIt) {
  setenv("GRPC_VERBOSITY", "error", 1);

  SilenceGrpcLog();

  EXPECT_THAT(WrittenByGrpc(), HasSubstr("a line"));
}

}  // namespace
}  // namespace embd::client

#include "embd/client/grpc_log.h"

#include <cstdlib>

#include "grpc/support/log.h"

namespace embd::client {

void SilenceGrpcLog() {
  if (std::getenv("GRPC_VERBOSITY") != nullptr) return;
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace embd::client

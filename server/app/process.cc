#include "server/app/process.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "google/protobuf/stubs/logging.h"
#include "server/core/kernels/simd_target.h"
#include "server/observability/log.h"

namespace embd::app {
namespace {

// The caller is told; a line on standard error besides would let anyone fill the log.
void IgnoreProtobufLog(google::protobuf::LogLevel, const char*, int, const std::string&) {}

}  // namespace

absl::Status ApplyLog(const config::Log& log) {
  if (absl::Status status = observability::SetLogLevel(log.level); !status.ok()) return status;
  observability::SetLogFormat(log.format == config::LogFormat::kJson ? observability::LogFormat::kJson
                                                                     : observability::LogFormat::kText);
  observability::SetAccessSample(log.access_sample);
  return absl::OkStatus();
}

absl::Status SetUpProcess(const config::Log& log, const std::string& simd_target) {
  google::protobuf::SetLogHandler(&IgnoreProtobufLog);
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);  // gRPC reads it when it starts
  if (absl::Status status = ApplyLog(log); !status.ok()) return status;
  if (simd_target.empty()) return absl::OkStatus();
  const absl::Status status = core::CapSimdTarget(simd_target);
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat("EMBD_SIMD: ", status.message()));
}

}  // namespace embd::app

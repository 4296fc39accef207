#include "tests/integration/routes/random_server.h"

#include <stdlib.h>

#include <filesystem>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/config/load.h"

namespace embd::testing {

std::int64_t FromEnvironment(const char* variable, std::int64_t by_default) {
  const char* const text = std::getenv(variable);
  std::int64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : by_default;
}

RandomServer::RandomServer(Draw& draw)
    : folder_((std::filesystem::temp_directory_path() / "embd-routes-XXXXXX").string()) {
  if (mkdtemp(folder_.data()) == nullptr) std::abort();
  models_ = DrawModels(draw, folder_);
  const std::string yaml = absl::StrCat(
      "server:\n  limits: { max_batch_size: 1000, max_sequence_length: 1000, max_response_bytes: 512KiB }\n",
      "  shared_memory: { prefix: ", folder_, "/region- }\nmodels:\n", models_.yaml);
  process_.emplace(EMBD_PROGRAM, folder_, yaml);
  routes_.emplace(process_->address(), config::ParseYaml(yaml, "embd.yaml").value());
}

RandomServer::~RandomServer() {
  routes_.reset();
  process_.reset();
  std::filesystem::remove_all(folder_);
}

bool RandomServer::Stop() {
  routes_.reset();
  return process_->Stop();
}

}  // namespace embd::testing

#include "tests/stress/life.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "embd/client/channel.h"
#include "grpcpp/grpcpp.h"
#include "server/app/process.h"
#include "tests/support/identity_servable.h"

namespace embd::stress {

World::World() : region_prefix(absl::StrCat("/dev/shm/embd-stress-", getpid(), "-")) {
  (void)app::ApplyLog({.level = "off"});  // until a life is configured otherwise
}

World::~World() {
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    if (absl::StartsWith(entry.path().string(), region_prefix)) std::filesystem::remove(entry.path());
  }
}

Life::Life(World& world) : world_(world) {
  for (const std::string& model : Corpus::FileModels()) corpus().WriteTable(model, 0);
  server_ = app::EmbeddingServer::Start(Config(), {std::make_shared<testing::IdentityServable>()}, [this] {
              return absl::StatusOr<config::ServerConfig>(Config());
            }).value();
  config::ServerConfig guarded = Config();
  guarded.listen = {"127.0.0.1:0"};
  guarded.metrics_listen = {};
  std::erase_if(guarded.models, [](const config::ModelConfig& model) { return model.name != "normed"; });
  guarded.tls = world.certificates.tls();
  guarded.tokens = world.certificates.tokens_file();
  guarded_ = app::EmbeddingServer::Start(guarded, {}, [guarded] {
               return absl::StatusOr<config::ServerConfig>(guarded);
             }).value();
}

// Limits are so low that they are met now and then.
config::ServerConfig Life::Config() const {
  const core::MutexLock lock(&mutex_);
  config::ServerConfig config;
  config.listen = {"127.0.0.1:0", absl::StrCat("unix:", world_.folder.Path("socket"))};
  config.metrics_listen = {"127.0.0.1:0"};
  config.limits.max_concurrent_calls = 8;
  config.limits.max_concurrent_streams = 64;
  config.limits.max_bytes_in_flight = 64 << 20;
  config.limits.max_request_bytes = 1 << 20;
  config.limits.max_request_bytes_in_flight = 2 << 20;
  config.shared_memory =
      config::SharedMemory{.prefix = world_.region_prefix, .max_regions = 8, .max_bytes = std::int64_t{16} << 20};
  config.explicit_model_control = true;
  config.log = {.level = log_level_, .access_sample = 0.01};
  config.models = corpus().Models(variant_);
  return config;
}

client::Client Life::Tcp() const { return client::Client::Connect(tcp_address(), {.max_attempts = 1}).value(); }

client::Client Life::Unix() const { return client::Client::Connect(unix_address(), {.max_attempts = 3}).value(); }

client::Client Life::InProcess() const {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  return client::FromChannel(server_->InProcessChannel(arguments));
}

void Life::Configure(int variant, const std::string& log_level) {
  const core::MutexLock lock(&mutex_);
  variant_ = variant;
  log_level_ = log_level;
}

void Life::WhileServing(absl::FunctionRef<void()> work) {
  const core::MutexLock lock(&serving_);
  if (!ending_) work();
}

void Life::End(absl::Duration grace) {
  {
    const core::MutexLock lock(&serving_);
    ending_ = true;
  }
  server_->Shutdown(grace);
  guarded_->Shutdown(grace);
  over_ = true;
}

}  // namespace embd::stress

#include "server/app/embedding_server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "grpc/grpc.h"
#include "grpc/health/v1/health.pb.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "server/app/connection_arguments.h"
#include "server/app/health.h"
#include "server/app/idle_memory.h"
#include "server/app/memory_limit.h"
#include "server/app/model_repository.h"
#include "server/app/observation.h"
#include "server/app/process.h"
#include "server/app/reload.h"
#include "server/app/security.h"
#include "server/app/table_budget.h"
#include "server/app/unix_socket.h"
#include "server/app/version.h"
#include "server/core/error.h"
#include "server/core/kernels/simd_target.h"
#include "server/observability/log.h"
#include "server/oip/context.h"
#include "server/oip/inference_service.h"
#include "server/service/admin_service.h"
#include "server/service/backend.h"
#include "server/service/diagnostics_service.h"
#include "server/service/embedding_service.h"

namespace embd::app {
namespace {

// Models are built one after the other, but what shares a load need not wait for that.
constexpr int kLoadThreads = 4;
constexpr std::int64_t kMaxIdleReplyBytes = std::int64_t{512} << 20;
constexpr std::chrono::seconds kIdleMemoryPeriod(30);
constexpr absl::string_view kUnixPrefix = "unix:";

std::int64_t MaxBytesInFlight(const config::Limits& limits) {
  constexpr std::int64_t kDefault = std::int64_t{4} << 30;
  return limits.max_bytes_in_flight.value_or(std::min(kDefault, MemoryLimit() / 4));
}

std::int64_t MaxRequestBytesInFlight(const config::Limits& limits) {
  constexpr std::int64_t kDefault = std::int64_t{1} << 30;
  // The largest request must find room, also where it takes a little more once it is decoded.
  return limits.max_request_bytes_in_flight.value_or(
      std::max(std::min(kDefault, MemoryLimit() / 8), 2 * limits.max_request_bytes));
}

service::RegionLimits ToRegionLimits(const std::optional<config::SharedMemory>& shared_memory) {
  if (!shared_memory.has_value()) return {};
  return {.prefix = shared_memory->prefix,
          .max_regions = shared_memory->max_regions,
          .max_bytes = shared_memory->max_bytes.value_or(MemoryLimit() / 4)};
}

std::unique_ptr<service::Backend> MakeBackend(const config::ServerConfig& config) {
  const config::Limits& limits = config.limits;
  const std::int64_t max_bytes_in_flight = MaxBytesInFlight(limits);
  const auto max_idle_bytes = static_cast<std::size_t>(std::min(max_bytes_in_flight, kMaxIdleReplyBytes));
  return std::unique_ptr<service::Backend>(new service::Backend{
      .limits = {.max_batch_size = limits.max_batch_size,
                 .max_sequence_length = limits.max_sequence_length,
                 .max_response_bytes = limits.max_response_bytes},
      .max_request_bytes = limits.max_request_bytes,
      .max_bytes_in_flight = max_bytes_in_flight,
      .version = kVersion,
      .build = kBuild,
      .gate = service::Gate({.max_calls = limits.max_concurrent_calls,
                             .max_request_bytes = MaxRequestBytesInFlight(limits),
                             .max_stall = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::duration<double>(limits.max_stall_seconds))}),
      .buffers = service::ReplyBuffers::Create(max_bytes_in_flight, max_idle_bytes),
      .regions = service::SharedRegions(ToRegionLimits(config.shared_memory)),
      .workers = service::WorkerPool(static_cast<int>(std::max(2u, std::thread::hardware_concurrency()))),
      .diagnostics = service::WorkerPool(static_cast<int>(std::max(2u, std::thread::hardware_concurrency())))});
}

oip::Datatype ToDatatype(config::OutputType type) {
  switch (type) {
    case config::OutputType::kFloat32: return inference::TYPE_FP32;
    case config::OutputType::kFloat16: return inference::TYPE_FP16;
    case config::OutputType::kBFloat16: return inference::TYPE_BF16;
  }
  return inference::TYPE_FP32;
}

// What health checks may ask for besides models: the whole server, and its services.
constexpr std::array kServices = {"", v1::EmbeddingService::service_full_name(),
                                  v1::DiagnosticsService::service_full_name(), v1::AdminService::service_full_name(),
                                  inference::GRPCInferenceService::service_full_name()};

// One key of server.log; `value_of` gives its value.
template <typename Value>
LiveSetting LogSetting(const char* key, const config::Log& started, Value config::Log::*value_of) {
  return {
      .key = key,
      .apply = [value = started.*value_of, value_of](const config::ServerConfig& now) mutable -> absl::StatusOr<bool> {
        if (absl::Status status = ApplyLog(now.log); !status.ok()) return status;
        return std::exchange(value, now.log.*value_of) != now.log.*value_of;
      }};
}

class Server final : public EmbeddingServer {
 public:
  Server(const config::ServerConfig& config, const Servables& others, ReadConfig read)
      : backend_(MakeBackend(config)),
        repository_(config, budget_, &backend_->models, &backend_->statistics,
                    [this](const std::string& model, bool serving) { health_.Set(model, serving); }),
        reload_(config, std::move(read), LiveSettings(config), &repository_),
        oip_context_{
            .backend = *backend_,
            .control = repository_,
            .loads = loads_,
            .unloads = unloads_,
            .ready = ready_,
            .stopping = stopping_,
            .options = {.server_name = config.inference.name,
                        .output_datatype = ToDatatype(config.inference.output_type)},
            .servables = oip::Servables(
                &backend_->models,
                {.output_datatype = ToDatatype(config.inference.output_type), .limits = backend_->limits}, others)},
        embedding_service_(backend_.get()),
        diagnostics_service_(backend_.get()),
        admin_service_(backend_.get(), {.control = repository_,
                                        .reload = [this] { return Follow(); },
                                        .loads = loads_,
                                        .unloads = unloads_,
                                        .reloads = reloads_}),
        inference_service_(&oip_context_) {
    for (const auto& each : others) backend_->statistics.Open(each->name(), each->version());
    for (const char* const service : kServices) health_.Set(service, false);
    for (const config::ModelConfig& model : config.models) health_.Set(model.name, false);
  }

  ~Server() override { Shutdown(absl::ZeroDuration()); }

  absl::Status Secure(const config::ServerConfig& config) {
    auto security = Security::Create(config, &backend_->gate.access());
    if (!security.ok()) return security.status();
    security_ = *std::move(security);
    return absl::OkStatus();
  }

  // Before anything is loaded, so that probes find a server that lives.
  absl::Status StartEndpoint(const std::vector<std::string>& addresses) {
    auto endpoint = Observe(addresses, {.backend = backend_.get(),
                                        .health = &health_,
                                        .models = &repository_,
                                        .stopping = &stopping_,
                                        .security = security_.get()});
    if (!endpoint.ok()) return endpoint.status();
    endpoint_ = *std::move(endpoint);
    if (endpoint_ == nullptr) return absl::OkStatus();
    metrics_addresses_ = endpoint_->addresses();
    observability::LogInfo(absl::StrCat("metrics and health on ", absl::StrJoin(metrics_addresses_, ", ")));
    return absl::OkStatus();
  }

  absl::Status LoadModels(const std::function<void()>& ready) override {
    return repository_.LoadAll([&] {
      ready_.store(true);
      for (const char* const service : kServices) health_.Set(service, true);
      observability::LogInfo(absl::StrCat("embd ", kVersion, " serves on ", absl::StrJoin(addresses_, ", "),
                                          ", SIMD target ", core::SimdTarget()));
      ready();
    });
  }

  bool IsLoading() const override { return repository_.IsLoading() || following_.load() > 0; }

  absl::StatusOr<service::ReloadReport> ReloadConfig() override { return Follow(); }

  void ReloadConfigInBackground(std::function<void()> done) override {
    reloads_.Add([this, done = std::move(done)] {
      (void)Follow();  // which logs what comes of it
      done();
    });
  }

  absl::Status Listen(const config::ServerConfig& config) {
    const std::vector<std::string>& addresses = config.listen;
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    // Reflection knows the messages that are linked, and gRPC serves health checks without any.
    google::protobuf::LinkMessageReflection<grpc::health::v1::HealthCheckRequest>();
    grpc::ServerBuilder builder;
    // Requests up to twice the limit reach us and are refused with our own words; longer ones by gRPC, with its own.
    builder.SetMaxReceiveMessageSize(static_cast<int>(
        std::min<std::int64_t>(2 * backend_->max_request_bytes + (1 << 20), std::numeric_limits<int>::max())));
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a second server on the port must fail, not share it
    SetConnectionArguments(config.connections, config.limits, &builder);
    builder.RegisterService(&embedding_service_);
    builder.RegisterService(&diagnostics_service_);
    builder.RegisterService(&admin_service_);
    builder.RegisterService(&inference_service_);
    std::vector<int> ports(addresses.size(), 0);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      std::string bound = addresses[i];
      auto credentials = security_->TcpCredentials();
      if (absl::string_view path = addresses[i]; absl::ConsumePrefix(&path, kUnixPrefix)) {
        auto claimed = UnixSocket::Claim(path);
        if (!claimed.ok()) return claimed.status();
        bound = absl::StrCat(kUnixPrefix, claimed->temporary_path());
        sockets_.push_back(*std::move(claimed));
        credentials = grpc::InsecureServerCredentials();
      }
      builder.AddListeningPort(bound, std::move(credentials), &ports[i]);
    }
    server_ = builder.BuildAndStart();
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (server_ == nullptr || ports[i] == 0) {
        return core::Error(absl::StatusCode::kFailedPrecondition, "CANNOT_LISTEN",
                           absl::StrCat("cannot listen on ", core::Quote(addresses[ports[i] == 0 ? i : 0]),
                                        "; is it in use, or not this machine's?"));
      }
      addresses_.push_back(BoundAddress(addresses[i], ports[i]));
    }
    for (UnixSocket& socket : sockets_) {
      if (absl::Status status = socket.Publish(); !status.ok()) return status;
    }
    health_.Serve(server_->GetHealthCheckService());
    observability::LogInfo(absl::StrCat("listening on ", absl::StrJoin(addresses_, ", ")));
    return absl::OkStatus();
  }

  const std::vector<std::string>& addresses() const override { return addresses_; }

  const std::vector<std::string>& metrics_addresses() const override { return metrics_addresses_; }

  int port() const override { return port_; }

  std::shared_ptr<grpc::Channel> InProcessChannel(const grpc::ChannelArguments& arguments) override {
    return server_->InProcessChannel(arguments);
  }

  service::ModelControl& model_control() override { return repository_; }

  void AnnounceShutdown() override {
    stopping_.store(true);
    health_.Stop();
    repository_.Stop();
  }

  std::uint64_t calls_begun() const override {
    std::uint64_t begun = 0;
    for (const service::MethodInfo& info : service::Methods())
      begun += backend_->gate.counts().Get(info.method).started;
    return begun;
  }

  void Shutdown(absl::Duration grace) override {
    if (server_ == nullptr || shut_down_.exchange(true)) return;
    observability::LogInfo(absl::StrCat("draining for at most ", absl::FormatDuration(grace)));
    AnnounceShutdown();
    for (UnixSocket& socket : sockets_) socket.Remove();  // a successor may bind while calls are drained
    server_->Shutdown(absl::ToChronoTime(absl::Now() + grace));
    observability::LogInfo("stopped");
  }

  void Wait() override {
    if (server_ != nullptr) server_->Wait();
  }

 private:
  std::string BoundAddress(const std::string& address, int port) {
    if (absl::StartsWith(address, kUnixPrefix)) return address;
    if (port_ == 0) port_ = port;
    return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
  }

  absl::StatusOr<service::ReloadReport> Follow() {
    following_.fetch_add(1);
    const absl::Cleanup followed = [this] { following_.fetch_sub(1); };
    auto report = reload_.Run();
    backend_->statistics.CountReload(report.ok() && report->failures.empty());
    return report;
  }

  // What another path or file is named for is only read at the start; the files themselves can change.
  LiveSetting SecurityFiles() {
    return {.key = "server.tls, server.tokens",
            .apply = [this](const config::ServerConfig& /*now*/) -> absl::StatusOr<bool> {
              if (absl::Status status = security_->Reload(); !status.ok()) return status;
              return false;
            }};
  }

  std::vector<LiveSetting> LiveSettings(const config::ServerConfig& config) {
    return {LogSetting("server.log.level", config.log, &config::Log::level),
            LogSetting("server.log.format", config.log, &config::Log::format),
            LogSetting("server.log.access_sample", config.log, &config::Log::access_sample), SecurityFiles()};
  }

  // The repository and the services use what stands before them, and gRPC's server uses the services.
  const std::unique_ptr<service::Backend> backend_;
  const TableBudget budget_{TableMemoryLimit(MemoryLimit())};
  Health health_;
  ModelRepository repository_;
  Reload reload_;
  std::atomic<bool> ready_ = false;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> shut_down_ = false;
  std::atomic<int> following_ = 0;  // reloads that look at files or load them; a file system may keep them waiting
  oip::Context oip_context_;
  service::EmbeddingService embedding_service_;
  service::DiagnosticsService diagnostics_service_;
  service::AdminService admin_service_;
  oip::InferenceService inference_service_;
  std::unique_ptr<Security> security_;
  service::WorkerPool loads_{kLoadThreads};
  service::WorkerPool unloads_{1};
  service::WorkerPool reloads_{1};
  std::unique_ptr<grpc::Server> server_;
  std::vector<UnixSocket> sockets_;
  std::vector<std::string> addresses_;
  int port_ = 0;
  std::vector<std::string> metrics_addresses_;
  std::unique_ptr<observability::HttpEndpoint> endpoint_;  // uses what stands before it; null: not served
  const IdleMemory idle_memory_{backend_->buffers, budget_, kIdleMemoryPeriod};
};

}  // namespace

absl::StatusOr<std::unique_ptr<EmbeddingServer>> EmbeddingServer::Listen(const config::ServerConfig& config,
                                                                         const Servables& others, ReadConfig read) {
  // gRPC tidies up when its last user leaves, and then waits up to ten seconds for a poller that covered a blocked
  // write. One reference is kept to the end of the process, so that a server stops as soon as it is drained.
  [[maybe_unused]] static const bool kept = (grpc_init(), true);
  auto server = std::make_unique<Server>(config, others, std::move(read));
  if (absl::Status status = server->Secure(config); !status.ok()) return status;
  if (absl::Status status = server->StartEndpoint(config.metrics_listen); !status.ok()) return status;
  if (absl::Status status = server->Listen(config); !status.ok()) return status;
  return server;
}

absl::StatusOr<std::unique_ptr<EmbeddingServer>> EmbeddingServer::Start(const config::ServerConfig& config,
                                                                        const Servables& others, ReadConfig read) {
  auto server = Listen(config, others, std::move(read));
  if (!server.ok()) return server.status();
  if (absl::Status status = (*server)->LoadModels([] {}); !status.ok()) return status;
  return server;
}

}  // namespace embd::app

#include "embd/client/channel.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/src/address.h"
#include "client/src/bearer_token.h"
#include "client/src/channel_credentials.h"
#include "client/src/grpc_transport.h"
#include "grpc/grpc.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"

namespace embd::client {
namespace {

constexpr int kMaxAttempts = 5;  // gRPC takes no more
constexpr int kRetryBufferBytes = 256 << 20;

absl::Status Check(const ClientOptions& options) {
  if (options.max_attempts < 0 || options.max_attempts > kMaxAttempts) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_attempts ", options.max_attempts, " is outside [0, ", kMaxAttempts, "]"));
  }
  if (options.keepalive_interval < absl::Seconds(10)) {
    return absl::InvalidArgumentError(absl::StrCat("keepalive_interval ",
                                                   absl::FormatDuration(options.keepalive_interval),
                                                   " is less than 10s, which gRPC does not go below"));
  }
  return absl::OkStatus();
}

// Servers that say that they are not serving, because they start or drain, get no calls. Calls that only ask are tried
// again by the library (retry.h), so that gRPC sees to the others only: streams until their first answer, and calls
// that change something until the server answers.
std::string ServiceConfig(const ClientOptions& options, bool serving_only) {
  std::string config =
      R"({"loadBalancingConfig":[{"round_robin":{}}],"retryThrottling":{"maxTokens":1000,"tokenRatio":0.5})";
  if (serving_only) absl::StrAppend(&config, R"(,"healthCheckConfig":{"serviceName":""})");
  if (options.max_attempts > 1) {
    absl::StrAppend(&config, R"(,"methodConfig":[{"name":[{}],"retryPolicy":{"maxAttempts":)", options.max_attempts,
                    R"(,"initialBackoff":"0.05s","maxBackoff":"1s","backoffMultiplier":2,)",
                    R"("retryableStatusCodes":["UNAVAILABLE","RESOURCE_EXHAUSTED"]}},{"name":[)",
                    R"({"service":"embd.v1.EmbeddingService","method":"Embed"},)",
                    R"({"service":"embd.v1.EmbeddingService","method":"EmbedChunks"},)",
                    R"({"service":"embd.v1.EmbeddingService","method":"Rotate"},)",
                    R"({"service":"embd.v1.EmbeddingService","method":"RotaryTable"},)",
                    R"({"service":"embd.v1.EmbeddingService","method":"EmbedBags"},)",
                    R"({"service":"embd.v1.EmbeddingService","method":"Gradient"},)",
                    R"({"service":"embd.v1.EmbeddingService","method":"Project"},)",
                    R"({"service":"embd.v1.AdminService","method":"ListRegions"},)",
                    R"({"service":"embd.v1.DiagnosticsService"},{"service":"grpc.health.v1.Health"}]}])");
  }
  return config + "}";
}

grpc::ChannelArguments Arguments(const ClientOptions& options, bool serving_only) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetUserAgentPrefix("embd-client/" EMBD_VERSION);
  arguments.SetServiceConfigJSON(ServiceConfig(options, serving_only));
  // Without a policy they still make calls anew that were not sent. They cost small calls up to a quarter; Retry sees
  // to those that only ask.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, options.max_attempts > 1 || !serving_only ? 1 : 0);
  arguments.SetInt(GRPC_ARG_PER_RPC_RETRY_BUFFER_SIZE, kRetryBufferBytes);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // else clients of one address share one connection
  if (options.keepalive_interval < absl::Hours(24 * 7)) {   // else the number of milliseconds may not fit
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(options.keepalive_interval / absl::Milliseconds(1)));
  }
  if (options.tls.has_value() && !options.tls->server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls->server_name);
  }
  // A server that has just started should be found soon: gRPC waits 1 s after the first failure, and up to 2 min later.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5'000);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS,
                   5'000);  // by default 30 s, in which replicas may all move
  return arguments;
}

}  // namespace

absl::StatusOr<Client> Client::Connect(absl::string_view address, const ClientOptions& options) {
  if (absl::Status status = Check(options); !status.ok()) return status;
  const auto target = TargetOf(address);
  if (!target.ok()) return target.status();
  const auto credentials = CredentialsFor(*target, options.tls);
  if (!credentials.ok()) return credentials.status();
  auto token = BearerToken::Create(options);
  if (!token.ok()) return token.status();
  const auto channel = [&](bool serving_only) {
    return grpc::CreateCustomChannel(*target, *credentials, Arguments(options, serving_only));
  };
  return Client(std::make_shared<GrpcTransport>(channel(true), channel(false), options.timeout, options.max_attempts,
                                                *std::move(token)));
}

Client FromChannel(std::shared_ptr<grpc::Channel> channel, absl::Duration timeout) {
  auto same = channel;
  return Client(std::make_shared<GrpcTransport>(std::move(channel), std::move(same), timeout,
                                                ClientOptions().max_attempts, /*token=*/nullptr));
}

}  // namespace embd::client

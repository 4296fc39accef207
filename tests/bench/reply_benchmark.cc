// How fast replies come over loopback TCP: embd's zero-copy reply against the same engine filling a protobuf `bytes`
// field. Both are asked by the same client, in turn, so that a noisy machine is noisy for both; what counts is the
// ratio.
//
//   reply_benchmark [ROUNDS]      7 rounds by default; prints a Markdown table

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "embd/client/client.h"
#include "server/observability/log.h"
#include "tests/bench/as_embdctl.h"
#include "tests/bench/bytes_field_server.h"
#include "tests/support/served_models.h"

namespace embd::bench {
namespace {

constexpr std::int64_t kVocab = 50'257, kDim = 768, kLength = 1024;

client::EmbedRequest Request(std::int64_t batch, std::int64_t tokens) {
  client::EmbedRequest request = {.model = "gpt2-sized", .batch_size = batch, .sequence_length = tokens};
  for (std::int64_t i = 0; i < batch * tokens; ++i) request.ids.push_back(i * 7919 % kVocab);
  return request;
}

// Seconds a call, over as many calls as a tenth of a second takes, at least three.
double SecondsPerCall(const client::Client& client, const client::EmbedRequest& request, std::span<float> out) {
  const auto started = std::chrono::steady_clock::now();
  int calls = 0;
  std::chrono::duration<double> elapsed{};
  while (calls < 3 || elapsed.count() < 0.1) {
    if (const auto info = client.EmbedInto(request, out); !info.ok()) {
      std::fprintf(stderr, "%s\n", info.status().ToString().c_str());
      std::exit(EXIT_FAILURE);
    }
    ++calls;
    elapsed = std::chrono::steady_clock::now() - started;
  }
  return elapsed.count() / calls;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const client::Client& embd, const client::Client& bytes_field, std::int64_t batch, std::int64_t tokens,
             int rounds) {
  const client::EmbedRequest request = Request(batch, tokens);
  std::vector<float> out(static_cast<std::size_t>(batch * tokens * kDim)), other(out.size());
  SecondsPerCall(embd, request, out);
  SecondsPerCall(bytes_field, request, other);
  if (out != other) {
    std::fprintf(stderr, "the two servers do not answer the same\n");
    std::exit(EXIT_FAILURE);
  }
  std::vector<double> embd_seconds, other_seconds, ratios;
  for (int round = 0; round < rounds; ++round) {
    embd_seconds.push_back(SecondsPerCall(embd, request, out));
    other_seconds.push_back(SecondsPerCall(bytes_field, request, other));
    ratios.push_back(other_seconds.back() / embd_seconds.back());
  }
  const double megabytes = static_cast<double>(out.size() * sizeof(float)) / 1e6;
  std::printf("| (%ld,%ld) | %.3f | %.3f | %.0f | %.3f | %.0f | **%.2f** |\n", static_cast<long>(batch),
              static_cast<long>(tokens), megabytes, Median(embd_seconds) * 1e3, megabytes / Median(embd_seconds),
              Median(other_seconds) * 1e3, megabytes / Median(other_seconds), Median(ratios));
  std::fflush(stdout);
}

// A server in a process of its own, as in real life; ends with this object. To be made before anything of gRPC runs
// here.
class ServerProcess {
 public:
  template <typename Server>
  static ServerProcess Start() {
    int channel[2];
    if (pipe(channel) != 0) std::abort();
    const pid_t pid = fork();
    if (pid == 0) {
      absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
      if (!observability::SetLogLevel("warn").ok()) _exit(EXIT_FAILURE);
      config::ServerConfig config;
      config.models = {testing::SmallModel("gpt2-sized", kVocab, kDim, kLength)};
      const Server server(config);
      const std::string address = server.tcp_address();
      if (write(channel[1], address.data(), address.size()) < 0) _exit(EXIT_FAILURE);
      close(channel[1]);
      while (true) pause();
    }
    close(channel[1]);
    std::array<char, 256> address{};
    const ssize_t size = read(channel[0], address.data(), address.size());
    close(channel[0]);
    if (pid < 0 || size <= 0) {
      std::fprintf(stderr, "a server does not start\n");
      std::exit(EXIT_FAILURE);
    }
    return ServerProcess(pid, std::string(address.data(), static_cast<std::size_t>(size)));
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] client::Client Connect() const { return client::Client::Connect(address_).value(); }

 private:
  ServerProcess(pid_t pid, std::string address) : pid_(pid), address_(std::move(address)) {}

  const pid_t pid_;
  const std::string address_;
};

void Run(int rounds) {
  const ServerProcess embd_server = ServerProcess::Start<testing::ServedModels>();
  const ServerProcess bytes_field_server = ServerProcess::Start<BytesFieldServer>();
  SetUpAsEmbdctl();
  const client::Client embd_client = embd_server.Connect();
  const client::Client bytes_client = bytes_field_server.Connect();
  std::printf(
      "D %ld, float32, one caller, loopback TCP, a process each; medians of %d interleaved "
      "rounds\n\n",
      static_cast<long>(kDim), rounds);
  std::printf(
      "| (B,T) | MB | embd ms | embd MB/s | bytes field ms | bytes field MB/s | ratio "
      "|\n|---|---|---|---|---|---|---|\n");
  for (const auto& [batch, tokens] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 128}, {8, 128}, {8, 512}, {32, 512}}) {
    Compare(embd_client, bytes_client, batch, tokens, rounds);
  }
}

}  // namespace
}  // namespace embd::bench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 7;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: reply_benchmark [ROUNDS]\n");
    return 2;
  }
  embd::bench::Run(rounds);
  return 0;
}

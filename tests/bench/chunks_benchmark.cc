// What it gains to receive a large tensor in blocks of rows rather than as one message: time, time to the first bytes,
// and memory at either end. Both ways are measured in turn, so that a noisy machine is noisy for both; what counts is
// the ratio. Server and client are processes of their own.
//
//   chunks_benchmark [ROUNDS]      7 rounds by default; prints Markdown tables

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "embd/client/client.h"
#include "server/observability/log.h"
#include "tests/bench/as_embdctl.h"
#include "tests/support/served_models.h"

namespace embd::bench {
namespace {

using client::Chunks;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kVocab = 50'257, kDim = 768, kLength = 1024;
constexpr char kModel[] = "gpt2-sized";

void Fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(EXIT_FAILURE);
}

// Runs `work` in a process of its own. To be called before anything of gRPC runs here.
pid_t Fork(const std::function<void()>& work) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid < 0) Fail("no process");
  if (pid > 0) return pid;
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);  // as embd and embdctl do
  work();
  std::fflush(stdout);
  _exit(EXIT_SUCCESS);
}

void Await(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0) Fail("a client failed");
}

// In MiB, of /proc/PID/status.
double Memory(pid_t pid, const std::string& field) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/status"));
  for (std::string line; std::getline(file, line);) {
    if (absl::StartsWith(line, field + ":")) return std::atof(line.c_str() + field.size() + 1) / 1024;
  }
  Fail("no " + field);
  return 0;
}

void ForgetPeak(pid_t pid) { std::ofstream(absl::StrCat("/proc/", pid, "/clear_refs")) << "5"; }

client::EmbedRequest Request(std::int64_t batch, std::int64_t tokens) {
  client::EmbedRequest request = {.model = kModel, .batch_size = batch, .sequence_length = tokens};
  for (std::int64_t i = 0; i < batch * tokens; ++i) request.ids.push_back(i * 7919 % kVocab);
  return request;
}

std::vector<float> Room(std::int64_t batch, std::int64_t tokens) {
  return std::vector<float>(static_cast<std::size_t>(batch * tokens * kDim));
}

void Embed(const client::Client& client, const client::EmbedRequest& request, std::span<float> out, Chunks chunks) {
  const auto info = client.EmbedInto(request, out, {.chunks = chunks});
  if (!info.ok()) Fail(info.status().ToString());
}

double Milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

// Milliseconds a call, over as many calls as a tenth of a second takes, at least three.
double CallTime(const client::Client& client, const client::EmbedRequest& request, std::span<float> out,
                Chunks chunks) {
  const auto started = Clock::now();
  int calls = 0;
  double elapsed = 0;
  for (; calls < 3 || elapsed < 100; ++calls, elapsed = Milliseconds(Clock::now() - started)) {
    Embed(client, request, out, chunks);
  }
  return elapsed / calls;
}

double FirstBytesTime(const client::Client& client, const client::EmbedRequest& request) {
  const auto started = Clock::now();
  double first = 0;
  const auto info = client.EmbedSlices(request,
                                       [&](const client::EmbedInfo&, std::span<const std::byte>) {
                                         if (first == 0) first = Milliseconds(Clock::now() - started);
                                         return absl::OkStatus();
                                       },
                                       {.chunks = Chunks::kAlways});
  if (!info.ok()) Fail(info.status().ToString());
  return first;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const client::Client& client, std::int64_t batch, std::int64_t tokens, int rounds) {
  const client::EmbedRequest request = Request(batch, tokens);
  std::vector<float> out = Room(batch, tokens), other = Room(batch, tokens);
  Embed(client, request, out, Chunks::kNever);
  Embed(client, request, other, Chunks::kAlways);
  if (out != other) Fail("blocks of rows are not the tensor");
  std::vector<double> whole, chunks, ratios, first;
  for (int round = 0; round < rounds; ++round) {
    whole.push_back(CallTime(client, request, out, Chunks::kNever));
    chunks.push_back(CallTime(client, request, out, Chunks::kAlways));
    ratios.push_back(whole.back() / chunks.back());
    first.push_back(FirstBytesTime(client, request));
  }
  const double megabytes = static_cast<double>(out.size() * sizeof(float)) / 1e6;
  std::printf("| (%ld,%ld) | %.3f | %.3f | %.0f | %.3f | %.0f | **%.2f** | %.3f |\n", static_cast<long>(batch),
              static_cast<long>(tokens), megabytes, Median(whole), 1e3 * megabytes / Median(whole), Median(chunks),
              1e3 * megabytes / Median(chunks), Median(ratios), Median(first));
  std::fflush(stdout);
}

void CompareAll(const std::string& address, int rounds) {
  SetUpAsEmbdctl();
  const client::Client client = client::Client::Connect(address).value();
  std::printf(
      "| (B,T) | MB | one message, ms | MB/s | blocks, ms | MB/s | ratio | first bytes, ms "
      "|\n|---|---|---|---|---|---|---|---|\n");
  for (const auto& [batch, tokens] :
       {std::pair<std::int64_t, std::int64_t>{1, 128}, {1, 256}, {1, 512}, {8, 512}, {32, 512}}) {
    Compare(client, batch, tokens, rounds);
  }
}

// What peak memory grows by, in MiB, at either end while twenty calls of (32, 512) are made; the client's own buffer is
// there, and in memory, before.
void MeasureMemory(const std::string& address, pid_t server, Chunks chunks) {
  const client::Client client = client::Client::Connect(address).value();
  const client::EmbedRequest request = Request(32, 512);
  std::vector<float> out = Room(32, 512);
  std::fill(out.begin(), out.end(), 1.0f);
  Embed(client, Request(1, 1), std::span(out).first(kDim), Chunks::kNever);
  const double server_before = Memory(server, "VmRSS"), client_before = Memory(getpid(), "VmRSS");
  ForgetPeak(server);
  ForgetPeak(getpid());
  for (int i = 0; i < 20; ++i) Embed(client, request, out, chunks);
  std::printf("| %s | %.1f | %.1f |\n", chunks == Chunks::kAlways ? "blocks" : "one message",
              Memory(server, "VmHWM") - server_before, Memory(getpid(), "VmHWM") - client_before);
}

std::pair<pid_t, std::string> StartServer() {
  int channel[2];
  if (pipe(channel) != 0) Fail("no pipe");
  const pid_t pid = Fork([&channel] {
    if (!observability::SetLogLevel("warn").ok()) _exit(EXIT_FAILURE);
    config::ServerConfig config;
    config.models = {testing::SmallModel(kModel, kVocab, kDim, kLength)};
    const testing::ServedModels served(config);
    const std::string address = served.tcp_address();
    if (write(channel[1], address.data(), address.size()) < 0) _exit(EXIT_FAILURE);
    close(channel[1]);
    while (true) pause();
  });
  close(channel[1]);
  std::array<char, 256> address{};
  const ssize_t size = read(channel[0], address.data(), address.size());
  close(channel[0]);
  if (size <= 0) Fail("the server does not start");
  return {pid, std::string(address.data(), static_cast<std::size_t>(size))};
}

void Run(int rounds) {
  const auto [server, address] = StartServer();
  std::printf("Growth of peak memory, in MiB, over twenty calls of (32,512) x %ld, float32\n\n",
              static_cast<long>(kDim));
  std::printf("| received as | server | client, beside its buffer |\n|---|---|---|\n");
  for (const Chunks chunks : {Chunks::kAlways, Chunks::kNever}) {
    Await(Fork([&, server = server, &address = address] { MeasureMemory(address, server, chunks); }));
  }
  std::printf("\nD %ld, float32, one caller, loopback TCP; medians of %d interleaved rounds\n\n",
              static_cast<long>(kDim), rounds);
  Await(Fork([&, &address = address] { CompareAll(address, rounds); }));
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
}

}  // namespace
}  // namespace embd::bench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 7;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: chunks_benchmark [ROUNDS]\n");
    return 2;
  }
  embd::bench::Run(rounds);
  return 0;
}

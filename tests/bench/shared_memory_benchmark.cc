// How fast results come by shared memory: against the engine in this process, which nothing can beat, and against the
// reply in one message, and in blocks of rows, over loopback TCP. All in turn, so that a noisy machine is noisy for
// all; what counts are the ratios.
//
//   shared_memory_benchmark [ROUNDS]      7 rounds by default; prints a Markdown table

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "embd/client/client.h"
#include "embd/client/shared_region.h"
#include "server/app/embedding_server.h"
#include "server/app/memory_limit.h"
#include "server/app/model_builder.h"
#include "server/app/table_budget.h"
#include "server/core/engine/embed_plan.h"
#include "server/core/tensor/aligned_buffer.h"
#include "server/observability/log.h"
#include "tests/bench/as_embdctl.h"
#include "tests/support/served_models.h"

namespace embd::bench {
namespace {

constexpr std::int64_t kVocab = 50'257, kDim = 768, kLength = 1024;

config::ModelConfig ModelConfig() { return testing::SmallModel("gpt2-sized", kVocab, kDim, kLength); }

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(EXIT_FAILURE);
}

// Seconds a call, over as many calls as a quarter of a second takes, at least three, after a tenth as many that warm up
// what the way before has left cold.
double SecondsPerCall(const std::function<void()>& call) {
  const auto warm = std::chrono::steady_clock::now() + std::chrono::milliseconds(25);
  while (std::chrono::steady_clock::now() < warm) call();
  const auto started = std::chrono::steady_clock::now();
  int calls = 0;
  std::chrono::duration<double> elapsed{};
  while (calls < 3 || elapsed.count() < 0.25) {
    call();
    ++calls;
    elapsed = std::chrono::steady_clock::now() - started;
  }
  return elapsed.count() / calls;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// A server in a process of its own, as in real life, at a TCP port and a Unix socket of `folder`; ends with this
// object. To be made before anything of gRPC runs here.
class ServerProcess {
 public:
  explicit ServerProcess(const std::string& folder) : unix_address_(absl::StrCat("unix:", folder, "/socket")) {
    std::array<int, 2> channel{};
    if (pipe(channel.data()) != 0) Fail("no pipe");
    pid_ = fork();
    if (pid_ == 0) Serve(folder, channel[1]);
    close(channel[1]);
    std::array<char, 256> address{};
    const ssize_t size = read(channel[0], address.data(), address.size());
    close(channel[0]);
    if (pid_ < 0 || size <= 0) Fail("the server does not start");
    tcp_address_.assign(address.data(), static_cast<std::size_t>(size));
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] client::Client Tcp() const { return client::Client::Connect(tcp_address_).value(); }
  [[nodiscard]] client::Client Unix() const { return client::Client::Connect(unix_address_).value(); }

 private:
  [[noreturn]] void Serve(const std::string& folder, int ready) const {
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    if (!observability::SetLogLevel("warn").ok()) _exit(EXIT_FAILURE);
    config::ServerConfig config;
    config.models = {ModelConfig()};
    config.listen = {"127.0.0.1:0", unix_address_};
    config.shared_memory =
        config::SharedMemory{.prefix = absl::StrCat("/dev/shm/", folder.substr(folder.rfind('/') + 1))};
    const auto server = app::EmbeddingServer::Start(config);
    if (!server.ok()) Fail(server.status().ToString());
    const std::string& address = (*server)->addresses()[0];
    if (write(ready, address.data(), address.size()) < 0) _exit(EXIT_FAILURE);
    close(ready);
    while (true) pause();
  }

  const std::string unix_address_;
  std::string tcp_address_;
  pid_t pid_ = -1;
};

// The same batch by each way.
class Comparison {
 public:
  Comparison(const ServerProcess& server, std::shared_ptr<const core::Model> model, std::int64_t batch,
             std::int64_t tokens)
      : tcp_(server.Tcp()),
        unix_(server.Unix()),
        request_(Request(batch, tokens)),
        plan_(Plan(std::move(model), request_)),
        region_(client::SharedRegion::Create(unix_, plan_.byte_size()).value()),
        out_(core::AlignedBuffer::Allocate(plan_.byte_size()).value()),
        reply_(plan_.byte_size()) {
    to_region_ = request_;
    to_region_.output_target = region_.Target();
    CheckThatAllAgree();
  }

  void Compose(core::Stores stores) { plan_.Compose(0, plan_.row_count(), out_.bytes(), stores); }
  void ByRegion() {
    if (const auto info = unix_.EmbedToRegion(to_region_); !info.ok()) Fail(info.status().ToString());
  }
  void ByReply(client::Chunks chunks) {
    const auto info = tcp_.EmbedInto(request_, std::span(reply_), {.chunks = chunks});
    if (!info.ok()) Fail(info.status().ToString());
  }
  [[nodiscard]] double megabytes() const { return static_cast<double>(plan_.byte_size()) / 1e6; }

 private:
  static client::EmbedRequest Request(std::int64_t batch, std::int64_t tokens) {
    client::EmbedRequest request = {.model = "gpt2-sized", .batch_size = batch, .sequence_length = tokens};
    for (std::int64_t i = 0; i < batch * tokens; ++i) request.ids.push_back(i * 7919 % kVocab);
    return request;
  }

  static core::EmbedPlan Plan(std::shared_ptr<const core::Model> model, const client::EmbedRequest& request) {
    core::EmbedInput input = {
        .batch_size = request.batch_size, .sequence_length = request.sequence_length, .ids = request.ids};
    return core::EmbedPlan::Create(
               std::move(model), std::move(input),
               {.max_batch_size = 1 << 20, .max_sequence_length = 1 << 20, .max_response_bytes = 1 << 30})
        .value();
  }

  void CheckThatAllAgree() {
    Compose(core::Stores::kCached);
    ByRegion();
    ByReply(client::Chunks::kNever);
    if (std::memcmp(out_.data(), region_.bytes().data(), out_.size()) != 0 ||
        std::memcmp(out_.data(), reply_.data(), out_.size()) != 0) {
      Fail("the results differ");
    }
  }

  client::Client tcp_, unix_;
  client::EmbedRequest request_, to_region_;
  core::EmbedPlan plan_;
  client::SharedRegion region_;
  core::AlignedBuffer out_;
  std::vector<std::byte> reply_;
};

void Compare(const ServerProcess& server, const std::shared_ptr<const core::Model>& model, std::int64_t batch,
             std::int64_t tokens, int rounds) {
  Comparison ways(server, model, batch, tokens);
  std::vector<double> cached, streaming, region, reply, chunks, of_kernel, of_reply, of_chunks;
  for (int round = 0; round < rounds; ++round) {
    cached.push_back(SecondsPerCall([&] { ways.Compose(core::Stores::kCached); }));
    streaming.push_back(SecondsPerCall([&] { ways.Compose(core::Stores::kStreaming); }));
    region.push_back(SecondsPerCall([&] { ways.ByRegion(); }));
    reply.push_back(SecondsPerCall([&] { ways.ByReply(client::Chunks::kNever); }));
    chunks.push_back(SecondsPerCall([&] { ways.ByReply(client::Chunks::kAlways); }));
    of_kernel.push_back(std::min(cached.back(), streaming.back()) / region.back());
    of_reply.push_back(reply.back() / region.back());
    of_chunks.push_back(chunks.back() / region.back());
  }
  std::printf("| (%ld,%ld) | %.3f | %.3f | %.3f | %.3f | %.0f | %.3f | %.3f | **%.2f** | **%.2f** | **%.2f** |\n",
              static_cast<long>(batch), static_cast<long>(tokens), ways.megabytes(), Median(cached) * 1e3,
              Median(streaming) * 1e3, Median(region) * 1e3, ways.megabytes() / Median(region), Median(reply) * 1e3,
              Median(chunks) * 1e3, Median(of_kernel), Median(of_reply), Median(of_chunks));
  std::fflush(stdout);
}

void Run(int rounds) {
  std::string folder = "/tmp/embd-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) Fail("no temporary folder");
  {
    const ServerProcess server(folder);
    SetUpAsEmbdctl();
    app::TableBudget budget(app::MemoryLimit());
    const std::shared_ptr<const core::Model> model = app::BuildModel(ModelConfig(), &budget).value().model;
    std::printf(
        "D %ld, float32, one caller, server and client a process each; medians of %d interleaved rounds; kernel: one "
        "thread, in process, the faster of its two kinds of stores in the ratio\n\n"
        "| (B,T) | MB | kernel cached ms | kernel streaming ms | shared memory ms | MB/s | unary TCP ms | chunks TCP "
        "ms "
        "| of the kernel's rate | of the unary reply's | of the chunks' "
        "|\n|---|---|---|---|---|---|---|---|---|---|---|\n",
        static_cast<long>(kDim), rounds);
    for (const auto& [batch, tokens] : {std::pair<std::int64_t, std::int64_t>{1, 128}, {8, 512}, {32, 512}}) {
      Compare(server, model, batch, tokens, rounds);
    }
  }
  unlink((folder + "/socket").c_str());
  rmdir(folder.c_str());
}

}  // namespace
}  // namespace embd::bench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 7;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: shared_memory_benchmark [ROUNDS]\n");
    return 2;
  }
  embd::bench::Run(rounds);
  return 0;
}

// What it gains to ask for the bags of many models in one call rather than in one call a model: both ways in turn, by
// the same client, so that a noisy machine is noisy for both; what counts is the ratio. Server and client are processes
// of their own.
//
//   bags_benchmark [ROUNDS]      9 rounds by default; prints a Markdown table

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "embd/client/client.h"
#include "server/observability/log.h"
#include "tests/bench/as_embdctl.h"
#include "tests/support/served_models.h"

namespace embd::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kModels = 26;
constexpr std::int64_t kVocab = 20'000, kBags = 512;

struct Case {
  const char* name;
  std::int64_t dim;
  std::int64_t ids_a_bag;
  bool concatenate;
};
constexpr Case kCases[] = {{"D 16, 1 id a bag", 16, 1, false},
                           {"D 16, 1 id a bag, concatenated", 16, 1, true},
                           {"D 64, 4 ids a bag", 64, 4, false},
                           {"D 64, 4 ids a bag, concatenated", 64, 4, true}};

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

std::string ModelName(std::int64_t dim, int number) { return absl::StrCat("d", dim, "-", number); }

client::EmbedBagsRequest Together(const Case& shape) {
  std::mt19937_64 random(7);
  client::EmbedBagsRequest request = {.concatenate = shape.concatenate};
  for (int m = 0; m < kModels; ++m) {
    client::Bag bag = {.model = ModelName(shape.dim, m), .mode = client::BagMode::kSum};
    bag.row_lengths.assign(kBags, shape.ids_a_bag);
    for (std::int64_t i = 0; i < kBags * shape.ids_a_bag; ++i) {
      bag.ids.push_back(static_cast<std::int64_t>(random() % kVocab));
    }
    request.bags.push_back(std::move(bag));
  }
  return request;
}

std::vector<client::EmbedBagsRequest> OneByOne(const client::EmbedBagsRequest& together) {
  std::vector<client::EmbedBagsRequest> requests;
  for (const client::Bag& bag : together.bags) requests.push_back({.bags = {bag}});
  return requests;
}

client::PooledBags Ask(const client::Client& client, const client::EmbedBagsRequest& request) {
  auto reply = client.EmbedBags(request);
  if (!reply.ok()) Fail(reply.status().ToString());
  return *std::move(reply);
}

// Whether the two ways give the same vectors.
void Check(const client::Client& client, const client::EmbedBagsRequest& together,
           const std::vector<client::EmbedBagsRequest>& one_by_one) {
  const client::PooledBags all = Ask(client, together);
  for (std::size_t m = 0; m < one_by_one.size(); ++m) {
    const client::PooledBags one = Ask(client, one_by_one[m]);
    const std::string& vectors = one.embeddings[0].data;
    if (!together.concatenate && vectors != all.embeddings[m].data) Fail("a model's vectors differ");
    const std::size_t bytes = vectors.size() / kBags;
    for (std::size_t b = 0; together.concatenate && b < kBags; ++b) {
      if (all.embeddings[0].data.compare((b * kModels + m) * bytes, bytes, vectors, b * bytes, bytes) != 0) {
        Fail("a model's vectors differ");
      }
    }
  }
}

// Milliseconds a time, over as many as a fifth of a second takes, at least three.
double Time(const std::function<void()>& work) {
  const auto started = Clock::now();
  int times = 0;
  double elapsed = 0;
  for (; times < 3 || elapsed < 200; ++times) {
    work();
    elapsed = std::chrono::duration<double, std::milli>(Clock::now() - started).count();
  }
  return elapsed / times;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const client::Client& client, const char* route, const Case& shape, int rounds) {
  const client::EmbedBagsRequest together = Together(shape);
  const std::vector<client::EmbedBagsRequest> one_by_one = OneByOne(together);
  Check(client, together, one_by_one);
  std::vector<double> single, joint, ratios;
  for (int round = 0; round < rounds; ++round) {
    single.push_back(Time([&] {
      for (const client::EmbedBagsRequest& request : one_by_one) (void)Ask(client, request);
    }));
    joint.push_back(Time([&] { (void)Ask(client, together); }));
    ratios.push_back(single.back() / joint.back());
  }
  std::printf("| %s | %s | %.3f | %.3f | **%.2f** |\n", route, shape.name, Median(single), Median(joint),
              Median(ratios));
  std::fflush(stdout);
}

void CompareAll(const std::vector<std::string>& addresses, int rounds) {
  SetUpAsEmbdctl();
  std::printf("| by | shape | %d calls, ms | one call, ms | ratio |\n|---|---|---|---|---|\n", kModels);
  for (const std::string& address : addresses) {
    const client::Client client = client::Client::Connect(address).value();
    for (const Case& shape : kCases) Compare(client, address.starts_with("unix:") ? "Unix" : "TCP", shape, rounds);
  }
}

config::ServerConfig Config() {
  config::ServerConfig config;
  for (const std::int64_t dim : {16, 64}) {
    for (int m = 0; m < kModels; ++m) {
      config.models.push_back(testing::SmallModel(ModelName(dim, m), kVocab, dim, /*max_context_length=*/0));
    }
  }
  return config;
}

// Its process, and where it listens.
std::pair<pid_t, std::vector<std::string>> StartServer() {
  std::array<int, 2> channel = {};
  if (pipe(channel.data()) != 0) Fail("no pipe");
  const pid_t pid = Fork([&channel] {
    if (!observability::SetLogLevel("warn").ok()) _exit(EXIT_FAILURE);
    const testing::ServedModels served(Config());
    const std::string addresses = absl::StrCat(served.tcp_address(), "\n", served.unix_address());
    if (write(channel[1], addresses.data(), addresses.size()) < 0) _exit(EXIT_FAILURE);
    close(channel[1]);
    while (true) pause();
  });
  close(channel[1]);
  std::array<char, 256> text{};
  const ssize_t size = read(channel[0], text.data(), text.size());
  close(channel[0]);
  if (size <= 0) Fail("the server does not start");
  const std::string both(text.data(), static_cast<std::size_t>(size));
  const std::size_t end = both.find('\n');
  return {pid, {both.substr(0, end), both.substr(end + 1)}};
}

void Run(int rounds) {
  const auto [server, addresses] = StartServer();
  std::printf("%d models, %ld bags each, float32, one caller; medians of %d interleaved rounds\n\n", kModels,
              static_cast<long>(kBags), rounds);
  const pid_t client = Fork([&, &where = addresses] { CompareAll(where, rounds); });
  int status = 0;
  const bool failed = waitpid(client, &status, 0) != client || status != 0;
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  if (failed) Fail("the client failed");
}

}  // namespace
}  // namespace embd::bench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: bags_benchmark [ROUNDS]\n");
    return 2;
  }
  embd::bench::Run(rounds);
  return 0;
}

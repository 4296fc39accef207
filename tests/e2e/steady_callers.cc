// Eight callers of one client that go on until standard input ends, through whatever happens to the servers. Each reply
// is compared with the first of its kind. Prints a line once all kinds have been answered, and at the end what became
// of the calls, as JSON.
//
//     steady_callers ADDRESS MODEL

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "embd/client/channel.h"
#include "embd/client/client.h"
#include "nlohmann/json.hpp"

namespace embd {
namespace {

constexpr int kCallers = 8;

// One way to ask for a batch.
struct Kind {
  const char* name;
  std::int64_t batch_size;
  std::int64_t sequence_length;
  client::Chunks chunks;
  bool async = false;
};

constexpr Kind kKinds[] = {
    {"one row", 1, 1, client::Chunks::kNever},
    {"one sequence", 1, 128, client::Chunks::kNever},
    {"asynchronous", 1, 128, client::Chunks::kNever, true},
    {"large in one message", 8, 512, client::Chunks::kNever},
    {"large in blocks", 8, 512, client::Chunks::kAlways},
};

absl::StatusOr<client::Embedding> Ask(const client::Client& client, const std::string& model, const Kind& kind) {
  client::EmbedRequest request = {
      .model = model, .batch_size = kind.batch_size, .sequence_length = kind.sequence_length};
  for (std::int64_t i = 0; i < kind.batch_size * kind.sequence_length; ++i) request.ids.push_back(i * 7 % 320);
  const client::CallOptions options = {.timeout = absl::Seconds(30), .chunks = kind.chunks};
  return kind.async ? client.EmbedAsync(request, options).get() : client.Embed(request, options);
}

std::string Bytes(const client::Embedding& embedding) {
  return {reinterpret_cast<const char*>(embedding.bytes().data()), embedding.bytes().size()};
}

// What became of the calls.
struct Tally {
  std::atomic<std::int64_t> calls = 0;
  std::atomic<std::int64_t> failed = 0;
  std::atomic<std::int64_t> different = 0;
  std::mutex mutex;
  std::string first_failure;  // guarded by `mutex`
};

void CallOnce(const client::Client& client, const std::string& model, const Kind& kind, const std::string& expected,
              Tally* tally) {
  const auto result = Ask(client, model, kind);
  ++tally->calls;
  if (result.ok()) {
    if (Bytes(*result) != expected) ++tally->different;
    return;
  }
  if (tally->failed++ > 0) return;
  const std::lock_guard lock(tally->mutex);
  tally->first_failure = std::string(kind.name) + ": " + result.status().ToString();
}

int Run(const std::string& address, const std::string& model) {
  const auto client = client::Client::Connect(address);
  if (!client.ok()) {
    std::fprintf(stderr, "steady_callers: %s\n", client.status().ToString().c_str());
    return EXIT_FAILURE;
  }
  std::vector<std::string> expected;
  for (const Kind& kind : kKinds) {
    const auto result = Ask(*client, model, kind);
    if (!result.ok()) {
      std::fprintf(stderr, "steady_callers: %s: %s\n", kind.name, result.status().ToString().c_str());
      return EXIT_FAILURE;
    }
    expected.push_back(Bytes(*result));
  }
  std::puts("going");
  std::fflush(stdout);

  Tally tally;
  std::atomic<bool> stop = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, i] {
      for (std::size_t next = static_cast<std::size_t>(i); !stop; ++next) {
        const std::size_t kind = next % std::size(kKinds);
        CallOnce(*client, model, kKinds[kind], expected[kind], &tally);
      }
    });
  }
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
  stop = true;
  for (std::thread& caller : callers) caller.join();
  const nlohmann::json line = {{"calls", tally.calls.load()},
                               {"failed", tally.failed.load()},
                               {"different", tally.different.load()},
                               {"first_failure", tally.first_failure}};
  std::puts(line.dump().c_str());
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace embd

int main(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  return embd::Run(argv[1], argv[2]);
}

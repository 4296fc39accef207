// Callers of a server, or of several, that ask in every way at a set rate until standard input ends. Each reply is
// compared, byte for byte, with what servers that nobody disturbs have answered before; of tables that are replaced
// meanwhile each version has such a server. A share of the calls is given up in the middle.
//
// Prints lines of JSON, with times of CLOCK_MONOTONIC in seconds: "going" once what to expect is known, "progress"
// every half second, "failure" for each call that failed or whose bytes are wrong, "tally" at the end.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "embd/client/channel.h"
#include "embd/client/error.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "nlohmann/json.hpp"
#include "tests/soak/kinds.h"

namespace embd::soak {
namespace {

constexpr std::size_t kRegionBytes = std::size_t{2} << 20;

struct Options {
  std::string server;
  std::string local;
  std::vector<std::string> references;
  int callers = 6;
  double rate = 60;     // calls a second, of all callers
  double given_up = 0;  // the share of calls
  double timeout_s = 60;
  int attempts = 1;
  std::uint64_t seed = 1;
};

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The bytes that each answer of a kind may have, by the tables that it names.
using Expected = std::vector<std::map<std::string, std::set<std::string>>>;

// What becomes of a call that its caller gives up.
enum class GivenUp { kNever, kCancelled, kTooLate };
constexpr std::array<const char*, 3> kGivenUpNames = {"", "cancelled", "deadline"};

// All that is printed goes through here.
class Printer {
 public:
  void Line(const nlohmann::json& line) {
    const std::lock_guard lock(mutex_);
    std::cout << line.dump() << std::endl;
  }

 private:
  std::mutex mutex_;
};

struct KindTally {
  std::atomic<std::int64_t> calls = 0, failed = 0, wrong = 0;
};

class Load {
 public:
  explicit Load(Options options) : options_(std::move(options)) {}

  int Run() {
    client::ClientOptions settings = {.timeout = absl::Seconds(options_.timeout_s), .max_attempts = options_.attempts};
    settings.keepalive_interval = absl::Seconds(10);
    auto client = client::Client::Connect(options_.server, settings);
    if (!client.ok()) return Fail(client.status());
    client_ = std::move(*client);
    if (!options_.local.empty()) {
      auto local = client::Client::Connect(options_.local, settings);
      if (!local.ok()) return Fail(local.status());
      local_ = std::move(*local);
    }
    if (options_.server.find(',') == std::string::npos) {
      inference_ = inference::GRPCInferenceService::NewStub(
          grpc::CreateChannel(options_.server, grpc::InsecureChannelCredentials()));
    }
    absl::StatusOr<Caller> caller = NewCaller();
    if (!caller.ok()) return Fail(caller.status());
    kinds_ = Kinds(*caller);
    tallies_ = std::vector<KindTally>(kinds_.size());
    expected_.resize(kinds_.size());
    for (const std::string& address : options_.references) {
      if (absl::Status status = Learn(address); !status.ok()) return Fail(status);
    }
    printer_.Line({{"going", kinds_.size()}});
    Work();
    return EXIT_SUCCESS;
  }

 private:
  static int Fail(const absl::Status& status) {
    std::cerr << "mixed_load: " << status << std::endl;
    return EXIT_FAILURE;
  }

  absl::StatusOr<Caller> NewCaller() {
    Caller caller = {.client = &*client_, .inference = inference_.get()};
    if (local_) {
      auto region = client::SharedRegion::Create(*local_, kRegionBytes);
      if (!region.ok()) return region.status();
      caller.local = &*local_;
      caller.region = std::move(*region);
    }
    return caller;
  }

  // Asks a server that nobody disturbs once for each kind; it is reached by a Unix socket.
  absl::Status Learn(const std::string& address) {
    auto client = client::Client::Connect(address);
    if (!client.ok()) return client.status();
    const auto inference =
        inference::GRPCInferenceService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    Caller caller = {.client = &*client, .local = &*client, .inference = inference.get()};
    auto region = client::SharedRegion::Create(*client, kRegionBytes);
    if (!region.ok()) return region.status();
    caller.region = std::move(*region);
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      auto answers = kinds_[k].ask(caller, {.timeout = absl::Seconds(60)});
      if (!answers.ok()) {
        return {answers.status().code(), absl::StrCat(kinds_[k].name, ": ", answers.status().message())};
      }
      expected_[k].resize(answers->size());
      for (std::size_t i = 0; i < answers->size(); ++i) {
        expected_[k][i][(*answers)[i].tables].insert(std::move((*answers)[i].bytes));
      }
    }
    return absl::OkStatus();
  }

  void Work() {
    std::vector<std::jthread> callers;
    for (int i = 0; i < options_.callers; ++i) {
      callers.emplace_back([this, i](const std::stop_token& stop) { Call(static_cast<std::uint64_t>(i), stop); });
    }
    const std::jthread progress([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        printer_.Line({{"progress", Now()}, {"calls", calls_.load()}, {"ok", ok_.load()}});
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
      }
    });
    std::cin.ignore(std::numeric_limits<std::streamsize>::max());
    for (std::jthread& caller : callers) caller.request_stop();
    callers.clear();
    nlohmann::json kinds = nlohmann::json::array();
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      kinds.push_back({{"kind", kinds_[k].name},
                       {"model", kinds_[k].model},
                       {"calls", tallies_[k].calls.load()},
                       {"failed", tallies_[k].failed.load()},
                       {"wrong", tallies_[k].wrong.load()}});
    }
    printer_.Line({{"tally", kinds}, {"cancelled", given_up_[1].load()}, {"deadline", given_up_[2].load()}});
  }

  void Call(std::uint64_t number, const std::stop_token& stop) {
    std::mt19937_64 random(options_.seed * 1000 + number);
    std::exponential_distribution<double> pause(options_.rate / options_.callers);
    const absl::StatusOr<Caller> caller = NewCaller();
    if (!caller.ok()) {
      ++calls_;
      PrintFailure({{"kind", "RegisterRegion"}, {"model", ""}, {"begin", Now()}, {"end", Now()}, {"given_up", ""}},
                   caller.status());
    }
    while (caller.ok() && !stop.stop_requested()) {
      CallOnce(*caller, random() % kinds_.size(), random);
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(pause(random), 2.0)));
    }
  }

  void CallOnce(const Caller& caller, std::size_t k, std::mt19937_64& random) {
    const Kind& kind = kinds_[k];
    std::uniform_real_distribution<double> share(0, 1);
    GivenUp given_up = GivenUp::kNever;
    if (kind.may_be_cut && share(random) < options_.given_up * (kind.large ? 5 : 1)) {
      given_up = share(random) < 0.5 ? GivenUp::kCancelled : GivenUp::kTooLate;
    }
    const auto moment = std::chrono::duration<double, std::milli>(share(random) * (kind.large ? 6 : 1));
    std::stop_source cancel;
    client::CallOptions options = {.timeout = absl::Seconds(options_.timeout_s), .cancel = cancel.get_token()};
    if (given_up == GivenUp::kTooLate) options.timeout = absl::Milliseconds(moment.count());
    std::jthread canceller;
    if (given_up == GivenUp::kCancelled) {
      canceller = std::jthread([&cancel, moment] {
        std::this_thread::sleep_for(moment);
        cancel.request_stop();
      });
    }
    const double begin = Now();
    const auto answers = kind.ask(caller, options);
    const double end = Now();
    ++calls_;
    ++tallies_[k].calls;
    if (given_up != GivenUp::kNever) ++given_up_[static_cast<std::size_t>(given_up)];
    nlohmann::json failure = {{"kind", kind.name},
                              {"model", kind.model},
                              {"begin", begin},
                              {"end", end},
                              {"given_up", kGivenUpNames[static_cast<std::size_t>(given_up)]}};
    if (!answers.ok()) {
      ++tallies_[k].failed;
      PrintFailure(std::move(failure), answers.status());
    } else if (const std::string wrong = WhatIsWrong(*answers, expected_[k]); !wrong.empty()) {
      ++tallies_[k].wrong;
      failure["wrong"] = wrong;
      printer_.Line({{"failure", failure}});
    } else {
      ++ok_;
    }
  }

  void PrintFailure(nlohmann::json failure, const absl::Status& status) {
    failure["code"] = absl::StatusCodeToString(status.code());
    failure["reason"] = client::ErrorReason(status);
    failure["message"] = std::string(status.message());
    printer_.Line({{"failure", failure}});
  }

  // "" where all answers have the bytes that they should have.
  static std::string WhatIsWrong(const std::vector<Answer>& answers, const Expected& expected) {
    if (answers.size() != expected.size()) return "another number of answers";
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto known = expected[i].find(answers[i].tables);
      if (known == expected[i].end()) return absl::StrCat("answer ", i, " names tables that there are none of");
      if (known->second.contains(answers[i].bytes)) continue;
      const std::string& first = *known->second.begin();
      const auto differs = std::mismatch(first.begin(), first.end(), answers[i].bytes.begin(), answers[i].bytes.end());
      return absl::StrCat("answer ", i, " differs from byte ", differs.first - first.begin(), " of ", first.size());
    }
    return "";
  }

  const Options options_;
  std::optional<client::Client> client_, local_;
  std::unique_ptr<inference::GRPCInferenceService::Stub> inference_;
  std::vector<Kind> kinds_;
  std::vector<Expected> expected_;
  std::vector<KindTally> tallies_;
  std::atomic<std::int64_t> calls_ = 0, ok_ = 0;
  std::array<std::atomic<std::int64_t>, 3> given_up_ = {};
  Printer printer_;
};

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Asks a server in every way, and compares every reply.");
  app.add_option("--server", options.server, "address, or several with commas between")->required();
  app.add_option("--local", options.local, "its Unix socket, for shared memory");
  app.add_option("--reference", options.references, "Unix socket of a server that says what is right")->required();
  app.add_option("--callers", options.callers);
  app.add_option("--rate", options.rate, "calls a second");
  app.add_option("--given-up", options.given_up,
                 "share of calls that are cancelled or get no time; of large ones 5 times");
  app.add_option("--timeout", options.timeout_s, "seconds a call");
  app.add_option("--attempts", options.attempts, "tries of a call that is UNAVAILABLE");
  app.add_option("--seed", options.seed);
  CLI11_PARSE(app, argc, argv);
  return Load(std::move(options)).Run();
}

}  // namespace
}  // namespace embd::soak

int main(int argc, char** argv) { return embd::soak::Main(argc, argv); }

#include "server/app/serve.h"

#include <semaphore.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/app/ready_file.h"

namespace embd::app {
namespace {

// Signals reach the whole process, so that their flags belong to it.
std::atomic<bool> stop_requested = false;
std::atomic<bool> by_hand = false;  // SIGINT came first: Ctrl-C at a terminal
std::atomic<bool> reload_requested = false;
sem_t happened;  // something below, or one of the flags above

void OnStopSignal(int signal) {
  if (stop_requested.exchange(true)) {
    std::signal(signal, SIG_DFL);
    raise(signal);  // ends the process when this returns
  }
  by_hand.store(signal == SIGINT);
  sem_post(&happened);
}

void OnReloadSignal(int /*signal*/) {
  reload_requested.store(true);
  sem_post(&happened);
}

// Writing to a caller that has gone is an error of that call, not a reason to end.
void HandleSignals() {
  sem_init(&happened, /*pshared=*/0, 0);
  std::signal(SIGPIPE, SIG_IGN);
  struct sigaction action = {};
  action.sa_handler = &OnStopSignal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  action.sa_handler = &OnReloadSignal;
  sigaction(SIGHUP, &action, nullptr);
}

class Life {
 public:
  Life(const config::ServerConfig& config, const ServiceManager& manager, std::unique_ptr<EmbeddingServer> server)
      : config_(config), manager_(manager), server_(std::move(server)) {}

  // Returns OK when it has been asked to stop.
  absl::Status Run() {
    manager_.Starting();
    std::thread loader([this] { Load(); });
    const absl::Status status = WaitForTheEnd();
    Stop(status.ok() ? absl::Seconds(config_.drain_seconds) : absl::ZeroDuration());
    loader.join();
    return status;
  }

 private:
  void Load() {
    load_status_ = server_->LoadModels([this] {
      ready_.store(true);
      sem_post(&happened);
    });
    if (load_status_.ok()) return;
    load_failed_.store(true);
    sem_post(&happened);
  }

  absl::Status WaitForTheEnd() {
    bool told_ready = false;
    while (!stop_requested.load()) {
      if (load_failed_.load()) return load_status_;
      if (ready_.load() && !std::exchange(told_ready, true)) {
        if (absl::Status status = BecomeReady(); !status.ok()) return status;
      }
      if (told_ready && reload_requested.exchange(false)) BeginReload();
      sem_wait(&happened);  // where it is interrupted instead, nothing is found and it waits again
    }
    return absl::OkStatus();
  }

  absl::Status BecomeReady() {
    if (!config_.ready_file.empty()) {
      if (absl::Status status = WriteReadyFile(config_.ready_file, server_->addresses(), server_->metrics_addresses());
          !status.ok())
        return status;
    }
    manager_.Ready();
    return absl::OkStatus();
  }

  void BeginReload() {
    reloads_.fetch_add(1);
    manager_.Reloading();
    server_->ReloadConfigInBackground([this] {
      if (reloads_.fetch_sub(1) == 1 && !stop_requested.load()) manager_.Ready();
    });
  }

  // gRPC cancels calls that arrive while it shuts down. Whoever watches the server's health goes elsewhere before that;
  // a balancer that only asks for it now and then needs the whole time, however quiet it is. Nobody balances over a
  // server that nobody has called, or that is stopped by hand: there it is enough that no calls come.
  void LetCallersGo() {
    constexpr absl::Duration kQuiet = absl::Milliseconds(200);
    server_->AnnounceShutdown();
    // By a clock that nobody sets: set back, the other one would hold the end off as long.
    const auto left = [end = std::chrono::steady_clock::now() +
                             absl::ToChronoNanoseconds(absl::Seconds(config_.drain_delay_seconds))] {
      return absl::FromChrono(end - std::chrono::steady_clock::now());
    };
    std::uint64_t begun = server_->calls_begun();
    for (bool quiet = false; !quiet && left() > absl::ZeroDuration();) {
      absl::SleepFor(std::min(kQuiet, left()));
      quiet = std::exchange(begun, server_->calls_begun()) == begun && (begun == 0 || by_hand.load());
    }
  }

  void Stop(absl::Duration grace) {
    manager_.Stopping();
    if (stop_requested.load()) LetCallersGo();
    server_->Shutdown(grace);
    if (!config_.ready_file.empty()) RemoveOwnReadyFile(config_.ready_file);
    // A load cannot be broken off, and nobody waits for it any more.
    if (server_->IsLoading() && stop_requested.load()) _exit(EXIT_SUCCESS);
  }

  const config::ServerConfig& config_;
  const ServiceManager& manager_;
  absl::Status load_status_;  // to be read once load_failed_ is set
  std::atomic<bool> load_failed_ = false;
  std::atomic<bool> ready_ = false;
  std::atomic<int> reloads_ = 0;  // that have begun and not ended
  const std::unique_ptr<EmbeddingServer> server_;
};

}  // namespace

absl::Status Serve(const config::ServerConfig& config, const EmbeddingServer::ReadConfig& read,
                   const ServiceManager& manager) {
  HandleSignals();
  if (!config.ready_file.empty()) RemoveStaleReadyFile(config.ready_file);
  auto server = EmbeddingServer::Listen(config, {}, read);
  if (!server.ok()) return server.status();
  return Life(config, manager, *std::move(server)).Run();
}

}  // namespace embd::app

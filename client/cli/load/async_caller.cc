#include <atomic>
#include <mutex>
#include <utility>

#include "client/cli/load/caller.h"
#include "client/cli/load/ending.h"
#include "client/cli/load/window.h"

namespace embd::cli {
namespace {

class AsyncCaller final : public Caller {
 public:
  AsyncCaller(client::Client client, std::int64_t window) : client_(std::move(client)), window_(window) {}

  void Run(SharedLoad& load, Tally& tally) override {
    std::mutex mutex;
    Tally ends;  // of the threads that complete calls
    for (;; PauseIfUnreachable(load)) {
      window_.Enter();
      const std::optional<Turn> turn = load.pace.Next();
      if (!turn) break;
      tally.Start(*turn);
      client_.EmbedAsync(load.BatchOf(*turn).request,
                         [this, &load, &mutex, &ends, turn = *turn](absl::StatusOr<client::Embedding> reply) {
                           const absl::Status status = Check(load.BatchOf(turn), reply);
                           if (absl::IsUnavailable(status)) unreachable_.store(true);
                           {
                             const std::lock_guard lock(mutex);
                             NoteEnd(load, turn, status, ends);
                           }
                           window_.Leave();
                         },
                         {.timeout = load.timeout, .cancel = load.stop});
    }
    window_.Leave();  // the turn that there was not
    window_.WaitUntilEmpty();
    tally.Merge(ends);
  }

 private:
  void PauseIfUnreachable(const SharedLoad& load) {
    if (unreachable_.exchange(false)) PauseAfter(load, absl::UnavailableError(""));
  }

  static absl::Status Check(const Batch& batch, const absl::StatusOr<client::Embedding>& reply) {
    if (!reply.ok()) return reply.status();
    return CheckReply(batch, reply->info(), reply->bytes().size());
  }

  client::Client client_;
  Window window_;
  std::atomic<bool> unreachable_ = false;  // a call has found no server since the last pause
};

}  // namespace

std::unique_ptr<Caller> MakeAsyncCaller(client::Client client, std::int64_t window) {
  return std::make_unique<AsyncCaller>(std::move(client), window);
}

}  // namespace embd::cli

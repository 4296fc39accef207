#include "client/cli/commands/waiting.h"

#include <ostream>

#include "absl/strings/str_format.h"

namespace embd::cli {
namespace {

constexpr char kCleanLine[] = "\r\x1b[K";

}  // namespace

Waiting::Waiting(const Session& session)
    : Waiting(session.world.err_is_terminal ? &session.world.err : nullptr, session.timeout, absl::Seconds(1)) {}

Waiting::Waiting(std::ostream* terminal, absl::Duration timeout, absl::Duration step)
    : terminal_(terminal), timeout_(timeout), step_(step) {
  if (terminal_ != nullptr) thread_ = std::thread([this] { Draw(); });
}

Waiting::~Waiting() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_one();
  thread_.join();
}

void Waiting::Draw() {
  std::unique_lock lock(mutex_);
  absl::Duration waited;
  while (!ending_.wait_for(lock, absl::ToChronoNanoseconds(step_), [this] { return ended_; })) {
    waited += step_;
    *terminal_ << kCleanLine
               << absl::StrFormat("waiting for the server: %.0f s of at most %g s", absl::ToDoubleSeconds(waited),
                                  absl::ToDoubleSeconds(timeout_))
               << std::flush;
  }
  if (waited > absl::ZeroDuration()) *terminal_ << kCleanLine << std::flush;
}

}  // namespace embd::cli

#include "server/service/stall_watch.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpc/grpc.h"
#include "grpc/support/alloc.h"
#include "server/observability/log.h"

namespace embd::service {
namespace {

std::string PeerOf(grpc_call* call) {
  char* const peer = grpc_call_get_peer(call);
  const std::string result(peer);
  gpr_free(peer);
  return result;
}

}  // namespace

StallWatch::Reply::Reply(StallWatch* watch, absl::string_view method, grpc::CallbackServerContext* context)
    : watch_(*watch), method_(method), context_(*context) {
  const core::MutexLock lock(&watch_.mutex_);
  place_ = watch_.replies_.insert(watch_.replies_.end(), this);
}

StallWatch::Reply::~Reply() {
  const core::MutexLock lock(&watch_.mutex_);
  watch_.replies_.erase(place_);
}

StallWatch::StallWatch(std::chrono::nanoseconds max_stall) : max_stall_(max_stall), thread_([this] { Run(); }) {}

StallWatch::~StallWatch() {
  {
    const core::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  stop_.NotifyAll();
  thread_.join();
}

void StallWatch::Run() {
  const auto pause = std::min<std::chrono::nanoseconds>(max_stall_ / 8, std::chrono::seconds(1));
  while (true) {
    {
      const core::MutexLock lock(&mutex_);
      if (!stopping_) stop_.WaitFor(&mutex_, pause);
      if (stopping_) return;
    }
    const std::vector<Stalled> stalled = Find();
    if (!stalled.empty()) End(stalled);
  }
}

std::vector<StallWatch::Stalled> StallWatch::Find() {
  const std::int64_t latest =
      Now() - std::chrono::duration_cast<std::chrono::steady_clock::duration>(max_stall_).count();
  std::vector<Stalled> found;
  const core::MutexLock lock(&mutex_);
  for (Reply* const reply : replies_) {
    const std::int64_t since = reply->since_.load(std::memory_order_relaxed);
    if (since == 0 || since > latest) continue;
    reply->EndWait();
    grpc_call_ref(reply->context_.c_call());
    found.push_back({reply->context_.c_call(), reply->method_});
  }
  return found;
}

// Not under the lock: gRPC may complete calls, which take it, on this thread.
void StallWatch::End(const std::vector<Stalled>& stalled) {
  const std::string limit = absl::StrCat("max_stall ", absl::FormatDuration(absl::FromChrono(max_stall_)));
  const std::string told = absl::StrCat("the reply has waited for its reader longer than ", limit, " of this server");
  observability::LogWarning(absl::StrCat("ends ", stalled.size(), " calls whose replies have waited longer than ",
                                         limit, " for their readers, among them ", stalled.front().method, " of ",
                                         PeerOf(stalled.front().call)));
  for (const Stalled& each : stalled) {
    grpc_call_cancel_with_status(each.call, GRPC_STATUS_CANCELLED, told.c_str(), nullptr);
    grpc_call_unref(each.call);
  }
  ended_.fetch_add(static_cast<std::int64_t>(stalled.size()), std::memory_order_relaxed);
}

}  // namespace embd::service

#include "call_context.h"

#include "absl/time/clock.h"

namespace embd::client {

CallContext::CallContext(const CallOptions& options, absl::Duration default_timeout, BearerToken* token)
    : on_stop_(options.cancel, [this] { context_.TryCancel(); }) {
  const absl::Duration timeout = options.timeout.value_or(default_timeout);
  if (timeout != absl::InfiniteDuration())
    context_.set_deadline(absl::ToChronoTime(absl::Now() + std::max(timeout, absl::ZeroDuration())));
  // Not as gRPC's call credentials: those are sent over encrypted connections only.
  if (token != nullptr) context_.AddMetadata("authorization", token->Header());
  context_.set_wait_for_ready(options.wait_for_ready);
}

}  // namespace embd::client

#include "tests/bench/caller.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace embd::bench {

absl::Status Caller::Run(Clock::time_point end, std::vector<float>* microseconds) {
  for (int calls = 0; calls < kLeastCalls || Clock::now() < end; ++calls) {
    const Clock::time_point start = Clock::now();
    if (absl::Status status = Call(out_); !status.ok()) return status;
    microseconds->push_back(MicrosecondsSince(start));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::unique_ptr<Caller>>> MakeCallers(const LoadOptions& options) {
  if (options.transport == "embd") return MakeEmbdCallers(options);
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < options.callers; ++i) {
    auto caller = options.transport == "floats"   ? MakeFloatsCaller(options)
                  : options.transport == "oip"    ? MakeOipCaller(options)
                  : options.transport == "socket" ? MakeSocketCaller(options)
                                                  : MakeRedisCaller(options);
    if (!caller.ok()) return caller.status();
    callers.push_back(*std::move(caller));
  }
  return callers;
}

absl::Status WrongSize(std::size_t got, std::size_t wanted) {
  return absl::InternalError(absl::StrCat("a reply has ", got, " bytes of elements in place of ", wanted));
}

}  // namespace embd::bench

#ifndef EMBD_TESTS_BENCH_CALLER_H_
#define EMBD_TESTS_BENCH_CALLER_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/bench/load_options.h"

namespace embd::bench {

using Clock = std::chrono::steady_clock;

/// One of the threads that load a server: calls again and again, and writes down how long each call took.
///
/// Thread safety: for one thread at a time.
class Caller {
 public:
  virtual ~Caller() = default;

  /// Calls once, into `out` of the tensor's size. Errors: those of the call, and INTERNAL where the reply has another
  /// size.
  [[nodiscard]] virtual absl::Status Call(std::span<std::byte> out) = 0;

  /// Calls until `end`, at least three times, and adds the microseconds of each call. Every reply's size is checked.
  /// By default one call after the other.
  [[nodiscard]] virtual absl::Status Run(Clock::time_point end, std::vector<float>* microseconds);

 protected:
  explicit Caller(std::size_t tensor_bytes) : out_(tensor_bytes) {}

  [[nodiscard]] std::span<std::byte> out() { return out_; }

 private:
  std::vector<std::byte> out_;
};

/// Makes the callers that `options` ask for; callers that share a connection get it from here.
///
/// Errors: those of connecting; UNIMPLEMENTED for what this program was built without.
[[nodiscard]] absl::StatusOr<std::vector<std::unique_ptr<Caller>>> MakeCallers(const LoadOptions& options);

using MadeCaller = absl::StatusOr<std::unique_ptr<Caller>>;
[[nodiscard]] absl::StatusOr<std::vector<std::unique_ptr<Caller>>> MakeEmbdCallers(const LoadOptions& options);
[[nodiscard]] MadeCaller MakeFloatsCaller(const LoadOptions& options);
[[nodiscard]] MadeCaller MakeOipCaller(const LoadOptions& options);
[[nodiscard]] MadeCaller MakeSocketCaller(const LoadOptions& options);
[[nodiscard]] MadeCaller MakeRedisCaller(const LoadOptions& options);

/// INTERNAL that names both sizes.
[[nodiscard]] absl::Status WrongSize(std::size_t got, std::size_t wanted);

/// Microseconds from `start` to now.
[[nodiscard]] inline float MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<float, std::micro>(Clock::now() - start).count();
}

inline constexpr int kLeastCalls = 3;

}  // namespace embd::bench

#endif  // EMBD_TESTS_BENCH_CALLER_H_

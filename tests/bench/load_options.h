#ifndef EMBD_TESTS_BENCH_LOAD_OPTIONS_H_
#define EMBD_TESTS_BENCH_LOAD_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace embd::bench {

/// What one run of the load client does.
struct LoadOptions {
  std::string transport = "embd";  ///< embd, oip, floats, socket or redis
  std::string address;
  std::string mode = "unary";  ///< of embd: unary, auto (chunks where the client takes them), async, stream or shared
  std::int64_t batch = 1;
  std::int64_t tokens = 1;
  bool float16 = false;
  int callers = 1;              ///< threads, each with a connection of its own
  bool one_connection = false;  ///< of embd: all callers share one
  int outstanding = 16;         ///< calls under way at once for each caller of async and stream
  double seconds = 0.5;
  double warm_up_seconds = 0.1;
  std::string expect;       ///< file of the bytes that the first reply must have; "": any
  std::int64_t server = 0;  ///< process whose CPU and memory are measured; 0: none

  /// The ids of every batch.
  [[nodiscard]] std::vector<std::int64_t> Ids() const;
  /// Bytes of the tensor.
  [[nodiscard]] std::size_t TensorBytes() const;
};

/// Reads the command line; ends the program where it is wrong.
[[nodiscard]] LoadOptions ReadLoadOptions(int argc, char** argv);

}  // namespace embd::bench

#endif  // EMBD_TESTS_BENCH_LOAD_OPTIONS_H_

#ifndef EMBD_TESTS_BENCH_KERNEL_REPORT_H_
#define EMBD_TESTS_BENCH_KERNEL_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "server/core/tensor/element_type.h"

namespace embd::bench {

struct Shape {
  std::int64_t batch = 0, tokens = 0;
  [[nodiscard]] std::int64_t cells() const { return batch * tokens; }
};

/// What others are compared with, by the names of their ways.
inline constexpr char kMemcpyHot[] = "memcpy hot", kMemcpyCold[] = "memcpy cold";
inline constexpr char kTorch[] = "torch", kTorchKeepingMemory[] = "torch, memory kept";

/// One thing that is timed.
struct Way {
  std::string name;
  core::ElementType type = core::ElementType::kFloat32;  ///< of the output that it writes
  std::size_t bytes = 0;                                 ///< of the output
  std::function<std::optional<double>()> seconds_per_call;
  std::vector<double> seconds = {};  ///< one a round
};

/// Prints a Markdown table as results come, and keeps them for a file.
class KernelReport {
 public:
  /// Prints `settings`, which begin the file, and the table's head.
  explicit KernelReport(nlohmann::json settings);

  /// A line for each way: its median time, and the medians over the rounds of the ratios to memcpy of as many bytes
  /// and to torch.
  void Add(Shape shape, const std::vector<Way>& ways);

  /// Writes all results as JSON; false where that fails. `torch` is said of torch in the end.
  [[nodiscard]] bool Write(const std::string& path, const std::string& torch);

 private:
  nlohmann::json json_;
};

}  // namespace embd::bench

#endif  // EMBD_TESTS_BENCH_KERNEL_REPORT_H_

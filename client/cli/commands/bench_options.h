#ifndef EMBD_CLIENT_CLI_COMMANDS_BENCH_OPTIONS_H_
#define EMBD_CLIENT_CLI_COMMANDS_BENCH_OPTIONS_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/load/batches.h"
#include "client/cli/load/pace.h"
#include "embd/client/options.h"

namespace embd::cli {

/// What `bench` does, as the command line says it.
struct BenchOptions {
  std::string model;
  std::int64_t batch = 1;
  std::int64_t tokens = 16;
  std::string shapes;  ///< "BxT,BxT,…" in place of these two; empty: none
  std::string part = "composed";
  std::string dtype = "float32";

  std::string mode = "unary";
  std::int64_t concurrency = 1;
  std::int64_t connections = 1;
  std::optional<std::int64_t> window;  ///< of each caller, in the modes that have one

  // Of unary mode:
  std::optional<std::string> chunks;  ///< "auto", "always" or "never"
  bool shared_memory = false;
  std::optional<std::int64_t> cache_bytes;

  std::optional<double> rate;
  std::optional<double> duration_s;
  std::optional<std::int64_t> calls;
  double warmup_s = 1;

  std::optional<std::string> ids_file;
  std::string ids_format;
  std::string ids_distribution = "uniform";
  std::uint64_t seed = 1;

  [[nodiscard]] bool HasWindow() const { return mode != "unary"; }
  [[nodiscard]] std::int64_t WindowOrDefault() const { return window.value_or(16); }
  /// Whether `chunks` means something.
  [[nodiscard]] bool HasChunks() const { return mode == "unary" && !shared_memory; }
  [[nodiscard]] std::string ChunksOrDefault() const { return chunks.value_or("auto"); }
  [[nodiscard]] client::Chunks ChunksOfCalls() const;

  /// Errors:
  ///   INVALID_ARGUMENT  options that do not go together, or make no load; shapes that cannot be read.
  [[nodiscard]] absl::StatusOr<std::vector<BatchShape>> CheckedShapes() const;
  [[nodiscard]] PaceSettings Pace() const;

 private:
  [[nodiscard]] absl::Status CheckWays() const;
};

/// Adds the options of `bench`. Parsing writes to `options`, which outlives it.
void AddBenchOptions(CLI::App& command, BenchOptions& options);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_BENCH_OPTIONS_H_

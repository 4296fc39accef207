#include "client/cli/commands/bench_options.h"

#include <CLI/CLI.hpp>
#include <limits>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/number_range.h"

namespace embd::cli {
namespace {

constexpr std::int64_t kMostCallers = 4096;
constexpr std::int64_t kMostConnections = 256;
constexpr double kMostSeconds = 1e7;
constexpr std::int64_t kMostCacheBytes = std::int64_t{1} << 50;

void AddBatches(CLI::App& command, BenchOptions& options) {
  CLI::Option* const batch = command.add_option("--batch", options.batch, "Rows of a batch")
                                 ->type_name("B")
                                 ->check(WholeNumberFrom(1, kMostIdsOfABatch))
                                 ->capture_default_str();
  CLI::Option* const tokens = command.add_option("--tokens", options.tokens, "Ids of a row")
                                  ->type_name("T")
                                  ->check(WholeNumberFrom(1, kMostIdsOfABatch))
                                  ->capture_default_str();
  command.add_option("--shapes", options.shapes, "Batches of several shapes, drawn at random, such as 1x1,1x16,8x512")
      ->type_name("BxT,…")
      ->excludes(batch)
      ->excludes(tokens);
  command.add_option("--part", options.part, "What is returned: composed, token or position")
      ->type_name("PART")
      ->check(CLI::IsMember({"composed", "token", "position"}))
      ->capture_default_str();
  command.add_option("--dtype", options.dtype, "Type of the elements: float32, float16 or bfloat16")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"float32", "float16", "bfloat16"}))
      ->capture_default_str();
}

void AddCallers(CLI::App& command, BenchOptions& options) {
  command
      .add_option("--mode", options.mode,
                  "unary: one call at a time a caller; stream: a stream a caller; async: many calls at a time a caller")
      ->type_name("MODE")
      ->check(CLI::IsMember({"unary", "stream", "async"}))
      ->capture_default_str();
  command.add_option("--concurrency", options.concurrency, "Callers, each with a thread")
      ->type_name("C")
      ->check(WholeNumberFrom(1, kMostCallers))
      ->capture_default_str();
  command.add_option("--window", options.window, "Batches under way in each stream or async caller; 16 if not said")
      ->type_name("W")
      ->check(WholeNumberFrom(1, kMostCallers));
  command.add_option("--connections", options.connections, "Connections that the callers share")
      ->type_name("N")
      ->check(WholeNumberFrom(1, kMostConnections))
      ->capture_default_str();
}

void AddWays(CLI::App& command, BenchOptions& options) {
  command
      .add_option("--chunks", options.chunks,
                  "Whether tensors come in blocks of rows (EmbedChunks): always, never, or auto for large ones; auto "
                  "if not said. This and the next two are for --mode unary")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command.add_flag("--shared-memory", options.shared_memory,
                   "Tensors go to a region of shared memory of each caller; for a server on a Unix socket");
  command
      .add_option("--cache", options.cache_bytes,
                  "Tensors are made of token rows that are kept in this much memory for all callers together; missing "
                  "rows are fetched")
      ->type_name("BYTES")
      ->check(WholeNumberFrom(1, kMostCacheBytes));
}

void AddPace(CLI::App& command, BenchOptions& options) {
  command
      .add_option("--rate", options.rate,
                  "Calls a second in all, at even distances; latency counts from when a call was due (open loop). "
                  "Without: a caller calls again once it has its answer (closed loop)")
      ->type_name("R")
      ->check(SecondsFrom(1e-6, 1e8));
  command.add_option("--duration", options.duration_s, "Seconds that are measured; 10 if --calls is not given either")
      ->type_name("S")
      ->check(SecondsFrom(0.001, kMostSeconds));
  command.add_option("--calls", options.calls, "Calls that are measured at most")
      ->type_name("N")
      ->check(WholeNumberFrom(1, std::int64_t{1} << 53));
  command.add_option("--warmup", options.warmup_s, "Seconds of calls before, not measured")
      ->type_name("S")
      ->check(SecondsFrom(0, kMostSeconds))
      ->capture_default_str();
}

void AddIds(CLI::App& command, BenchOptions& options) {
  CLI::Option* const file =
      command
          .add_option("--ids-file", options.ids_file,
                      "A file of ids, cut into batches that are taken in turns, in place of random ids; formats as of "
                      "embed; - for standard input, as JSON")
          ->type_name("F");
  command
      .add_option("--ids-format", options.ids_format,
                  "The format of --ids-file where its ending does not tell: json, txt …")
      ->type_name("FORMAT")
      ->needs(file);
  command
      .add_option("--ids-distribution", options.ids_distribution,
                  "Of random ids: uniform, or zipf (id k as often as 1 / (k + 1) says, as words of a text)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"uniform", "zipf"}))
      ->capture_default_str()
      ->excludes(file);
  command.add_option("--seed", options.seed, "Of random ids and shapes")
      ->type_name("N")
      ->check(WholeNumberFrom(0, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
}

}  // namespace

client::Chunks BenchOptions::ChunksOfCalls() const {
  if (chunks == "always") return client::Chunks::kAlways;
  if (chunks == "never") return client::Chunks::kNever;
  return client::Chunks::kAuto;
}

absl::Status BenchOptions::CheckWays() const {
  if (mode != "unary") {
    if (chunks) return absl::InvalidArgumentError("--chunks is for --mode unary");
    if (shared_memory) return absl::InvalidArgumentError("--shared-memory is for --mode unary");
    if (cache_bytes) return absl::InvalidArgumentError("--cache is for --mode unary");
  }
  if (shared_memory && chunks) {
    return absl::InvalidArgumentError("--chunks is not for --shared-memory, where no tensor is sent");
  }
  if (!cache_bytes) return absl::OkStatus();
  if (shared_memory) return absl::InvalidArgumentError("--cache and --shared-memory exclude each other");
  if (part == "position") return absl::InvalidArgumentError("--cache keeps token rows; --part position has none");
  if (connections > 1) {
    return absl::InvalidArgumentError("--cache is one for all callers and has one connection; --connections must be 1");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BatchShape>> BenchOptions::CheckedShapes() const {
  if (absl::Status status = CheckPace(Pace()); !status.ok()) return status;
  if (absl::Status status = CheckWays(); !status.ok()) return status;
  if (window && !HasWindow()) return absl::InvalidArgumentError("--window is for --mode stream and async");
  if (connections > concurrency) {
    return absl::InvalidArgumentError(
        absl::StrCat("--connections ", connections, " are more than the ", concurrency, " callers of --concurrency"));
  }
  if (part == "position" && ids_file) return absl::InvalidArgumentError("--part position takes no ids");
  if (!shapes.empty()) {
    absl::StatusOr<std::vector<BatchShape>> parsed = ParseShapes(shapes);
    if (!parsed.ok()) return absl::InvalidArgumentError(absl::StrCat("--shapes: ", parsed.status().message()));
    return parsed;
  }
  const BatchShape shape{.batch_size = batch, .sequence_length = tokens};
  if (shape.ids() > kMostIdsOfABatch) {
    return absl::InvalidArgumentError(
        absl::StrCat("--batch ", batch, " times --tokens ", tokens, " are more than ", kMostIdsOfABatch, " ids"));
  }
  return std::vector<BatchShape>{shape};
}

PaceSettings BenchOptions::Pace() const {
  PaceSettings pace{.warmup = absl::Seconds(warmup_s), .calls = calls, .rate = rate};
  if (duration_s || !calls) pace.duration = absl::Seconds(duration_s.value_or(10));
  return pace;
}

void AddBenchOptions(CLI::App& command, BenchOptions& options) {
  command.add_option("MODEL", options.model, "Name of a model, see `embdctl models`")->required()->type_name("");
  AddBatches(command, options);
  AddCallers(command, options);
  AddWays(command, options);
  AddPace(command, options);
  AddIds(command, options);
}

}  // namespace embd::cli

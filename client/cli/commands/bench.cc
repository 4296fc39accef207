#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/bench_options.h"
#include "client/cli/commands/bench_progress.h"
#include "client/cli/commands/bench_report.h"
#include "client/cli/commands/commands.h"
#include "client/cli/files/tensor_file.h"
#include "client/cli/load/load_run.h"
#include "embd/client/caching_client.h"

namespace embd::cli {
namespace {

// All ids of a file, row after row.
absl::StatusOr<std::vector<std::int64_t>> ReadIdsFile(const BenchOptions& options, const Surroundings& world) {
  const absl::StatusOr<FileFormat> format = FormatOf(*options.ids_file, options.ids_format, FileFormat::kJson);
  if (!format.ok()) return format.status();
  if (*format == FileFormat::kNpy || *format == FileFormat::kSafetensors) {
    const absl::StatusOr<Tensor> tensor = ReadIds(*options.ids_file, *format, world.in);
    if (!tensor.ok()) return tensor.status();
    std::vector<std::int64_t> ids(tensor->view().size());
    std::copy_n(tensor->bytes.begin(), tensor->bytes.size(), std::as_writable_bytes(std::span(ids)).begin());
    return ids;
  }
  absl::StatusOr<UnevenRows> rows = ReadUnevenRows(*options.ids_file, *format, world.in);
  if (!rows.ok()) return rows.status();
  return std::move(rows->values);
}

BatchPlan MakePlan(const BenchOptions& options, const std::vector<BatchShape>& shapes,
                   const client::ModelDescription& model) {
  return {.request = {.model = options.model,
                      .part = client::PartFromName(options.part).value_or(client::Part::kComposed),
                      .output_type = client::DataTypeFromName(options.dtype).value_or(client::DataType::kFloat32)},
          .shapes = shapes,
          .vocab_size = model.vocab_size,
          .embedding_dim = model.embedding_dim,
          .distribution = options.ids_distribution == "zipf" ? IdsDistribution::kZipf : IdsDistribution::kUniform,
          .seed = options.seed};
}

// Of all callers; copies are the same.
using Cache = std::optional<client::CachingClient>;

absl::StatusOr<Cache> MakeCache(const BenchOptions& options, const client::Client& client) {
  if (!options.cache_bytes) return Cache();
  absl::StatusOr<client::CachingClient> cache = client::CachingClient::Create(
      client, options.model, {.max_bytes = static_cast<std::size_t>(*options.cache_bytes)});
  if (!cache.ok()) return cache.status();
  return *std::move(cache);
}

std::optional<client::CachingStatistics> StatisticsOf(const Cache& cache) {
  if (!cache) return std::nullopt;
  return cache->statistics();
}

absl::StatusOr<std::vector<client::Client>> Connect(const BenchOptions& options, const Session& session) {
  std::vector<client::Client> clients;
  client::ClientOptions connection = session.connection;
  connection.max_attempts = 1;  // a call that is tried again would hide an error, and be two
  for (std::int64_t i = 0; i < options.connections; ++i) {
    absl::StatusOr<client::Client> client = session.world.connect(session.server, connection);
    if (!client.ok()) return client.status();
    clients.push_back(*std::move(client));
  }
  return clients;
}

absl::StatusOr<std::unique_ptr<OneCall>> MakeCall(const BenchOptions& options, const client::Client& client,
                                                  const Cache& cache, std::size_t most_bytes) {
  if (options.shared_memory) return MakeRegionCall(client, most_bytes);
  if (cache) return MakeCachedCall(*cache, most_bytes);
  return MakeUnaryCall(client, most_bytes);
}

// One call on each connection, which makes it, and one of each shape, past the cache: what the server refuses then it
// would refuse all the time.
absl::Status TryOut(const BenchOptions& options, const std::vector<client::Client>& clients,
                    const std::vector<Batch>& batches, std::size_t shapes) {
  for (std::size_t i = 0; i < std::max(clients.size(), std::min(shapes, batches.size())); ++i) {
    const Batch& batch = batches[i < shapes ? i : 0];
    const client::Client& client = clients[i < clients.size() ? i : 0];
    const absl::StatusOr<std::unique_ptr<OneCall>> call = MakeCall(options, client, std::nullopt, batch.reply_bytes);
    if (!call.ok()) return call.status();
    if (absl::Status status = (*call)->Ask(batch, {.chunks = options.ChunksOfCalls()}); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Whether the requests of a full window find room on their way, whatever the server does not read yet: else a thread
// that sends them could wait for answers that it has to receive itself.
bool WindowFitsConnection(const BenchOptions& options, const std::vector<Batch>& batches) {
  constexpr std::size_t kRoom = std::size_t{32} << 10;  // half of what HTTP/2 gives a stream at first
  constexpr std::size_t kMostBytesOfId = 10, kOtherBytes = 240;
  std::size_t most_ids = 0;
  for (const Batch& batch : batches) most_ids = std::max(most_ids, batch.request.ids.size());
  return static_cast<std::size_t>(options.WindowOrDefault()) <= kRoom / (most_ids * kMostBytesOfId + kOtherBytes);
}

std::unique_ptr<Caller> MakeCallerOfStream(const BenchOptions& options, const client::Client& client,
                                           const std::vector<Batch>& batches) {
  const bool in_one_thread = !options.rate.has_value() && WindowFitsConnection(options, batches);
  return in_one_thread ? MakeFilledStreamCaller(client, options.WindowOrDefault())
                       : MakeStreamCaller(client, options.WindowOrDefault());
}

absl::StatusOr<std::unique_ptr<Caller>> MakeCaller(const BenchOptions& options, const client::Client& client,
                                                   const Cache& cache, const std::vector<Batch>& batches,
                                                   std::size_t most_bytes) {
  if (options.mode == "stream") return MakeCallerOfStream(options, client, batches);
  if (options.mode == "async") return MakeAsyncCaller(client, options.WindowOrDefault());
  absl::StatusOr<std::unique_ptr<OneCall>> call = MakeCall(options, client, cache, most_bytes);
  if (!call.ok()) return call.status();
  return MakeBlockingCaller(*std::move(call));
}

absl::StatusOr<std::vector<std::unique_ptr<Caller>>> MakeCallers(const BenchOptions& options,
                                                                 const std::vector<client::Client>& clients,
                                                                 const Cache& cache,
                                                                 const std::vector<Batch>& batches) {
  std::size_t most_bytes = 0;
  for (const Batch& batch : batches) most_bytes = std::max(most_bytes, batch.reply_bytes);
  std::vector<std::unique_ptr<Caller>> callers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(options.concurrency); ++i) {
    absl::StatusOr<std::unique_ptr<Caller>> caller =
        MakeCaller(options, clients[i % clients.size()], cache, batches, most_bytes);
    if (!caller.ok()) return caller.status();
    callers.push_back(*std::move(caller));
  }
  return callers;
}

absl::StatusOr<LoadResult> Run(const BenchOptions& options, std::vector<std::unique_ptr<Caller>> callers,
                               std::vector<Batch> batches, const Session& session) {
  const Surroundings& world = session.world;
  BenchProgress progress(world.err_is_terminal ? &world.err : nullptr, options.Pace());
  absl::StatusOr<LoadResult> result =
      RunLoad({.batches = std::move(batches),
               .pace = options.Pace(),
               .timeout = session.timeout,
               .chunks = options.ChunksOfCalls(),
               .callers = std::move(callers)},
              {.now = world.steady, .sleep = world.sleep},
              {.interrupted = world.interrupted,
               .look = [&progress](absl::Duration measured, std::int64_t ended) { progress.Look(measured, ended); }});
  progress.Clear();
  return result;
}

Outcome Judge(const LoadResult& result) {
  const std::int64_t failed = result.tally.failed();
  if (failed == 0) return {};
  return {.code = ExitCode::kRefused,
          .message = absl::StrCat(failed, " of ", failed + result.tally.calls, " calls failed"),
          .timed_out = false};
}

// What is asked of the server before a load.
struct Served {
  client::ServerInfo server;
  client::ModelDescription model;
};

absl::StatusOr<Served> AskAbout(const BenchOptions& options, const client::Client& client) {
  absl::StatusOr<client::ServerInfo> server = client.GetServerInfo();
  if (!server.ok()) return server.status();
  absl::StatusOr<client::ModelDescription> model = client.DescribeModel({.model = options.model});
  if (!model.ok()) return model.status();
  return Served{.server = *std::move(server), .model = *std::move(model)};
}

absl::StatusOr<std::vector<Batch>> MakeBatches(const BatchPlan& plan, const BenchOptions& options,
                                               std::span<const std::int64_t> file_ids) {
  if (!options.ids_file) return RandomBatches(plan);
  absl::StatusOr<std::vector<Batch>> batches = CutIntoBatches(file_ids, plan);
  if (batches.ok()) return batches;
  return absl::InvalidArgumentError(absl::StrCat(*options.ids_file, ": ", batches.status().message()));
}

Outcome RunBench(const BenchOptions& options, const Session& session) {
  const absl::StatusOr<std::vector<BatchShape>> shapes = options.CheckedShapes();
  if (!shapes.ok()) return WrongUsage(shapes.status());
  absl::StatusOr<std::vector<std::int64_t>> file_ids;
  if (options.ids_file) file_ids = ReadIdsFile(options, session.world);
  if (options.ids_file && !file_ids.ok()) return WrongUsage(file_ids.status());
  const absl::StatusOr<Served> served = AskAbout(options, session.client);
  if (!served.ok()) return Refused(served.status());
  absl::StatusOr<std::vector<Batch>> batches =
      MakeBatches(MakePlan(options, *shapes, served->model), options, file_ids.value_or(std::vector<std::int64_t>()));
  if (!batches.ok()) return WrongUsage(batches.status());
  const std::size_t distinct_batches = batches->size();
  const absl::StatusOr<std::vector<client::Client>> clients = Connect(options, session);
  if (!clients.ok()) return WrongUsage(clients.status());
  // A program that is ended leaves its regions with the server.
  if (options.shared_memory) (void)session.world.interrupted();
  if (absl::Status status = TryOut(options, *clients, *batches, shapes->size()); !status.ok()) {
    return Refused(status);
  }
  const absl::StatusOr<Cache> cache = MakeCache(options, clients->front());
  if (!cache.ok()) return WrongUsage(cache.status());
  absl::StatusOr<std::vector<std::unique_ptr<Caller>>> callers = MakeCallers(options, *clients, *cache, *batches);
  if (!callers.ok()) return Refused(callers.status());
  (void)session.world.interrupted();  // from here on Ctrl-C ends the load, not the program
  const absl::StatusOr<LoadResult> result = Run(options, *std::move(callers), *std::move(batches), session);
  if (!result.ok()) return WrongUsage(result.status());
  const BenchReport report{.options = options,
                           .shapes = *shapes,
                           .distinct_batches = distinct_batches,
                           .address = session.server,
                           .timeout_s = absl::ToDoubleSeconds(session.timeout),
                           .server = served->server,
                           .model = served->model,
                           .result = *result,
                           .cache = StatisticsOf(*cache)};
  if (session.json) {
    session.PrintJson(BenchJson(report));
  } else {
    session.world.out << BenchText(report);
  }
  return Judge(*result);
}

}  // namespace

void AddBenchCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* const command = app.add_subcommand("bench", "How fast a server answers, and how long calls take");
  AddBenchOptions(*command, *options);
  command->footer(
      "Ids are made ready before, and every reply's shape, type and size are checked. A call is tried once. Ctrl-C "
      "ends\n"
      "it early and prints what was measured. --timeout does not hold for streams. Exit: 1 if any call failed.\n"
      "What --cache saved is reported for the whole load, warm-up included; the cache is empty at its begin.\n"
      "Examples: embdctl bench demo-learned --batch 8 --tokens 128 --concurrency 8\n"
      "          embdctl bench demo-learned --rate 2000 --concurrency 64 --duration 30\n"
      "          embdctl bench demo-learned --tokens 1 --mode stream --window 64 --calls 1000000 --output json\n"
      "          embdctl --server unix:/run/embd/socket bench demo-learned --batch 64 --tokens 512 --shared-memory");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunBench(*options, session); };
  });
}

}  // namespace embd::cli

// Loads one server of the comparison for some time and prints one line of JSON; compare.py runs it.
//
// Each caller's first reply is compared with the expected bytes, then every caller warms up, and only then is anything
// timed. A reply of a wrong size is an error, never throughput.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tests/bench/as_embdctl.h"
#include "tests/bench/caller.h"
#include "tests/bench/load_options.h"
#include "tests/bench/server_process.h"

namespace embd::bench {
namespace {

constexpr int kNotBuilt = 77;

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "load_client: %s\n", status.ToString().c_str());
  return absl::IsUnimplemented(status) ? kNotBuilt : 1;
}

absl::Status CheckFirstReply(const LoadOptions& options, Caller* caller) {
  if (options.expect.empty()) return absl::OkStatus();
  std::ifstream file(options.expect, std::ios::binary);
  const std::string wanted((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::byte> got(options.TensorBytes());
  if (wanted.size() != got.size()) return WrongSize(got.size(), wanted.size());
  if (absl::Status status = caller->Call(got); !status.ok()) return status;
  const bool same = std::equal(got.begin(), got.end(), std::as_bytes(std::span(wanted)).begin());
  return same ? absl::OkStatus() : absl::DataLossError("the first reply has other elements than expected");
}

// What one measurement begins and ends with.
struct Moment {
  Clock::time_point time;
  double server_cpu = 0;
  double client_cpu = 0;
};

Moment Now(const LoadOptions& options) {
  return {.time = Clock::now(),
          .server_cpu = options.server == 0 ? 0 : ProcessCpuSeconds(options.server),
          .client_cpu = ProcessCpuSeconds(getpid())};
}

struct Measured {
  absl::Status status;
  Moment begin, end;
  std::vector<float> microseconds;
};

Clock::time_point In(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

Measured Measure(const LoadOptions& options, const std::vector<std::unique_ptr<Caller>>& callers) {
  Measured measured;
  std::mutex mutex;
  const auto on_all = [&](double seconds, std::vector<std::vector<float>>* times) {
    const Clock::time_point end = In(seconds);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < callers.size(); ++i) {
      threads.emplace_back([&, i] {
        absl::Status status = callers[i]->Run(end, &(*times)[i]);
        const std::lock_guard lock(mutex);
        if (!status.ok()) measured.status = std::move(status);
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  std::vector<std::vector<float>> ignored(callers.size()), times(callers.size());
  on_all(options.warm_up_seconds, &ignored);
  if (options.server != 0) ResetPeakMemory(options.server);
  measured.begin = Now(options);
  on_all(options.seconds, &times);
  measured.end = Now(options);
  for (const std::vector<float>& each : times) {
    measured.microseconds.insert(measured.microseconds.end(), each.begin(), each.end());
  }
  std::sort(measured.microseconds.begin(), measured.microseconds.end());
  return measured;
}

double Quantile(const std::vector<float>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

void Print(const LoadOptions& options, const Measured& measured) {
  const auto calls = static_cast<double>(measured.microseconds.size());
  const double seconds = std::chrono::duration<double>(measured.end.time - measured.begin.time).count();
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  nlohmann::json line = {
      {"calls", measured.microseconds.size()},
      {"seconds", seconds},
      {"calls_per_second", calls / seconds},
      {"megabytes_per_second", calls * static_cast<double>(options.TensorBytes()) / 1e6 / seconds},
      {"median_us", Quantile(measured.microseconds, 0.5)},
      {"p99_us", Quantile(measured.microseconds, 0.99)},
      {"client_cpu_us", (measured.end.client_cpu - measured.begin.client_cpu) * 1e6 / calls},
      {"client_peak_bytes", std::int64_t{usage.ru_maxrss} * 1024},
  };
  if (options.server != 0) {
    line["server_cpu_us"] = (measured.end.server_cpu - measured.begin.server_cpu) * 1e6 / calls;
    line["server_peak_bytes"] = ProcessMemory(options.server).peak;
  }
  std::printf("%s\n", line.dump().c_str());
}

int Run(const LoadOptions& options) {
  const auto callers = MakeCallers(options);
  if (!callers.ok()) return Fail(callers.status());
  for (const auto& caller : *callers) {
    if (absl::Status status = CheckFirstReply(options, caller.get()); !status.ok()) return Fail(status);
  }
  const Measured measured = Measure(options, *callers);
  if (!measured.status.ok()) return Fail(measured.status);
  Print(options, measured);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace embd::bench

int main(int argc, char** argv) {
  embd::bench::SetUpAsEmbdctl();
  return embd::bench::Run(embd::bench::ReadLoadOptions(argc, argv));
}

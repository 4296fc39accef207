// How fast the nearest rows are found in a table as large as GloVe's, 341,479 rows of 100 float32, on all cores and
// with nothing sent: against reading the table once on the same threads, and against numpy's argpartition(table @
// query).
//
// Each round measures every way once; what counts are the medians of the ratios within a round.
//
//   nearest_benchmark [--rounds N] [--python FILE] [--numpy-script FILE] [--no-numpy]

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "server/core/diagnostics/fixed_order_dot.h"
#include "server/core/diagnostics/row_search.h"
#include "server/core/kernels/simd_target.h"
#include "server/core/table/seeded_table.h"
#include "server/service/shared_work.h"
#include "tests/bench/medians.h"
#include "tests/bench/torch_process.h"

namespace embd::bench {
namespace {

constexpr std::int64_t kRows = 341'479, kDim = 100, kTopK = 10;
constexpr std::int64_t kManyQueries = 64;
constexpr double kSecondsARound = 0.2;

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "nearest_benchmark: %s\n", why.c_str());
  std::exit(EXIT_FAILURE);
}

template <typename Call>
double SecondsPerCall(const Call& call) {
  const auto started = std::chrono::steady_clock::now();
  std::chrono::duration<double> elapsed{};
  int calls = 0;
  while (calls < 3 || elapsed.count() < kSecondsARound) {
    call();
    ++calls;
    elapsed = std::chrono::steady_clock::now() - started;
  }
  return elapsed.count() / calls;
}

// The table, and what is done with it on all cores.
class Workload {
 public:
  Workload()
      : table_(core::SeededTable(kRows, kDim, 0, 1.0, 11, core::SeedStream::kToken).value()),
        pool_(static_cast<int>(std::max(2u, std::thread::hardware_concurrency()))) {}

  [[nodiscard]] std::span<const float> Queries(std::int64_t count) const {
    return {reinterpret_cast<const float*>(table_.row(7)), static_cast<std::size_t>(count * kDim)};
  }

  std::vector<std::vector<core::ScoredRow>> Search(std::int64_t queries, core::RowScore score) {
    return core::SearchRows(
               table_, {.queries = Queries(queries), .score = score, .top_k = kTopK},
               [this](std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) { return Share(count, piece); })
        .value();
  }

  // Adds up all bits of the table, eight bytes at a time.
  std::uint64_t Read() {
    constexpr std::int64_t kPieces = 64;
    const std::span words(reinterpret_cast<const std::uint64_t*>(table_.bytes().data()),
                          table_.bytes().size() / sizeof(std::uint64_t));
    std::vector<std::uint64_t> sums(kPieces);
    const auto sum_piece = [&](std::int64_t piece) {
      const std::size_t size = words.size() / kPieces;
      const auto part = words.subspan(static_cast<std::size_t>(piece) * size, size);
      sums[static_cast<std::size_t>(piece)] = std::accumulate(part.begin(), part.end(), std::uint64_t{0});
    };
    if (!Share(kPieces, sum_piece).ok()) Fail("reading was interrupted");
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
  }

  // That the first query's rows are those that a plain loop finds.
  void Check() {
    std::vector<std::pair<double, std::int64_t>> scores;
    const std::vector<double> query(Queries(1).begin(), Queries(1).end());
    for (std::int64_t r = 0; r < kRows; ++r) {
      const auto* const row = reinterpret_cast<const float*>(table_.row(r));
      scores.emplace_back(-core::FixedOrderDot(std::vector<double>(row, row + kDim), query), r);
    }
    std::partial_sort(scores.begin(), scores.begin() + kTopK, scores.end());
    for (const std::int64_t queries : {std::int64_t{1}, kManyQueries}) {
      const auto found = Search(queries, core::RowScore::kDot);
      for (std::size_t i = 0; i < kTopK; ++i) {
        if (found[0].at(i).row != scores[i].second) Fail("row " + std::to_string(i) + " is not the nearest");
      }
    }
  }

 private:
  absl::Status Share(std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
    return service::ShareWork(pool_, count, piece, [] { return absl::OkStatus(); });
  }

  core::Table table_;
  service::WorkerPool pool_;
};

struct Way {
  std::string name;
  std::vector<double> seconds;
};

double MedianRatio(const Way& way, const Way& to) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < way.seconds.size(); ++i) ratios.push_back(way.seconds[i] / to.seconds[i]);
  return Median(ratios);
}

void Report(const std::vector<Way>& ways) {
  std::printf("| | ms | to reading | to one by dot product |\n|---|---|---|---|\n");
  for (const Way& way : ways) {
    std::printf("| %s | %.2f | %.2f | %.2f |\n", way.name.c_str(), Median(way.seconds) * 1e3, MedianRatio(way, ways[0]),
                MedianRatio(way, ways[1]));
  }
}

int Run(int rounds, TorchProcess* numpy) {
  Workload work;
  work.Check();
  std::vector<Way> ways = {
      {"reading once"}, {"one query, dot"}, {"one query, cosine"}, {"one query, l2"}, {"64 queries, cosine"}};
  if (numpy != nullptr && numpy->ready()) ways.insert(ways.end(), {{"numpy, one query"}, {"numpy, 64 queries"}});
  std::uint64_t read = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::optional<double>> seconds = {
        SecondsPerCall([&] { read += work.Read(); }), SecondsPerCall([&] { work.Search(1, core::RowScore::kDot); }),
        SecondsPerCall([&] { work.Search(1, core::RowScore::kCosine); }),
        SecondsPerCall([&] { work.Search(1, core::RowScore::kDistance); }),
        SecondsPerCall([&] { work.Search(kManyQueries, core::RowScore::kCosine); })};
    if (ways.size() > seconds.size()) {
      seconds.push_back(numpy->SecondsPerCall(1, kTopK, kSecondsARound));
      seconds.push_back(numpy->SecondsPerCall(kManyQueries, kTopK, kSecondsARound));
    }
    for (std::size_t i = 0; i < ways.size(); ++i) {
      if (!seconds[i].has_value()) Fail(numpy->state());
      ways[i].seconds.push_back(*seconds[i]);
    }
  }
  Report(ways);
  std::printf("\nSIMD target %s, %u threads, %d rounds, numpy: %s, sum of what was read %llu\n",
              core::SimdTarget().c_str(), std::max(2u, std::thread::hardware_concurrency()), rounds,
              numpy == nullptr ? "not asked for" : numpy->state().c_str(), static_cast<unsigned long long>(read));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace embd::bench

int main(int argc, char** argv) {
  CLI::App app("How fast the nearest rows of a table are found");
  int rounds = 7;
  std::string python = "/usr/bin/python3";
  std::string script = EMBD_NUMPY_SCRIPT;
  bool without_numpy = false;
  app.add_option("--rounds", rounds, "How often each way is measured")->check(CLI::Range(1, 1000));
  app.add_option("--python", python, "A Python that has numpy");
  app.add_option("--numpy-script", script, "numpy_top_rows.py");
  app.add_flag("--no-numpy", without_numpy, "Leave numpy out");
  CLI11_PARSE(app, argc, argv);
  // numpy chooses its kernels for this CPU, whatever others were made to choose.
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  std::unique_ptr<embd::bench::TorchProcess> numpy;
  if (!without_numpy) numpy = std::make_unique<embd::bench::TorchProcess>(python, script, false);
  return embd::bench::Run(rounds, numpy.get());
}

// How fast the engine composes, in one thread and with nothing sent: token and learned position rows, D 768, V 50257,
// L 1024, against memcpy of the same output and, where it is installed, PyTorch on one thread.
//
// The ids are random, and each call has another batch of them, taken in turn from a list of at least eight batches or
// 65,536 cells: the rows come from all over the table. "hot" memcpy copies an output-sized buffer again and again,
// "cold" memcpy a piece of the token table, another one each time. All memory asks for huge pages. torch makes a new
// tensor each time, as people write it; "torch, memory kept" is the same with a malloc that keeps what is freed. What
// counts are the medians of the ratios within a round.
//
//   kernel_benchmark [--rounds N] [--json FILE] [--shapes B,T ...] [--python FILE] [--torch-script FILE] [--no-torch]

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/core/engine/embed_plan.h"
#include "server/core/engine/model.h"
#include "server/core/kernels/simd_target.h"
#include "server/core/table/seeded_table.h"
#include "server/core/tensor/float_bits.h"
#include "tests/bench/kernel_report.h"
#include "tests/bench/torch_process.h"

namespace embd::bench {
namespace {

using core::ElementType;
using core::Stores;

constexpr std::int64_t kVocab = 50'257, kDim = 768, kLength = 1024;
constexpr double kSecondsARound = 0.03;

std::optional<Shape> ParseShape(const std::string& name) {
  Shape shape;
  int read = 0;
  static_assert(sizeof(long) == sizeof(std::int64_t));
  const int values = std::sscanf(name.c_str(), "%ld,%ld%n", &shape.batch, &shape.tokens, &read);
  const bool whole = values == 2 && static_cast<std::size_t>(read) == name.size();
  const bool fits = shape.batch >= 1 && shape.batch <= 1024 && shape.tokens >= 1 && shape.tokens <= kLength;
  return whole && fits ? std::optional(shape) : std::nullopt;
}

std::shared_ptr<const core::Model> MakeModel() {
  const auto table = [](std::int64_t rows, core::SeedStream stream) {
    return core::ModelTable::Of(core::SeededTable(rows, kDim, 0, 0.02, 11, stream).value(), "seeded", true);
  };
  return core::Model::Create({.name = "gpt2-sized",
                              .token = table(kVocab, core::SeedStream::kToken),
                              .position = table(kLength, core::SeedStream::kPosition),
                              .position_encoding = core::PositionEncoding::kLearned})
      .value();
}

// What all ways of one shape work on.
struct Workload {
  Workload(std::shared_ptr<const core::Model> of, Shape what)
      : model(std::move(of)),
        shape(what),
        out(core::AlignedBuffer::Allocate(bytes(ElementType::kFloat32)).value()),
        source(core::AlignedBuffer::Allocate(out.size()).value()) {
    std::memset(out.data(), 1, out.size());
    std::memset(source.data(), 1, source.size());
    std::mt19937_64 random(7);
    const std::int64_t count = std::clamp<std::int64_t>(65'536 / shape.cells(), 8, 4096);
    for (std::int64_t i = 0; i < count; ++i) {
      std::vector<std::int64_t> ids;
      while (std::ssize(ids) < shape.cells()) ids.push_back(static_cast<std::int64_t>(random() % kVocab));
      batches.push_back(std::move(ids));
    }
  }

  [[nodiscard]] std::size_t bytes(ElementType type) const {
    return static_cast<std::size_t>(shape.cells() * kDim) * ElementSize(type);
  }
  [[nodiscard]] std::vector<core::EmbedPlan> Plans(ElementType type) const {
    std::vector<core::EmbedPlan> plans;
    for (const auto& ids : batches) {
      plans.push_back(core::EmbedPlan::Create(
                          model,
                          {.output_type = type, .batch_size = shape.batch, .sequence_length = shape.tokens, .ids = ids},
                          {1 << 20, 1 << 20, std::int64_t{1} << 31})
                          .value());
    }
    return plans;
  }

  std::shared_ptr<const core::Model> model;
  Shape shape;
  core::AlignedBuffer out, source;
  std::vector<std::vector<std::int64_t>> batches;
};

// Seconds a call, over as many calls as kSecondsARound allow, at least three; `call` gets a number that counts up.
template <typename Call>
double SecondsPerCall(std::size_t bytes, const Call& call) {
  const std::size_t calls_a_look = std::clamp<std::size_t>((std::size_t{1} << 20) / bytes, 1, 1000);
  const auto started = std::chrono::steady_clock::now();
  std::chrono::duration<double> elapsed{};
  std::size_t calls = 0;
  while (calls < 3 || elapsed.count() < kSecondsARound) {
    for (std::size_t i = 0; i < calls_a_look; ++i) call(calls++);
    elapsed = std::chrono::steady_clock::now() - started;
  }
  return elapsed.count() / static_cast<double>(calls);
}

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "kernel_benchmark: %s\n", why.c_str());
  std::exit(EXIT_FAILURE);
}

// That `out` holds the sums of the first batch, computed here once more.
void CheckResult(const Workload& work, ElementType type) {
  const auto value = [](const core::Table& table, std::int64_t row, std::int64_t d) {
    return reinterpret_cast<const float*>(table.row(row))[d];
  };
  for (std::int64_t cell = 0; cell < work.shape.cells(); ++cell) {
    for (std::int64_t d = 0; d < kDim; ++d) {
      const float sum = value(work.model->token().table, work.batches[0][static_cast<std::size_t>(cell)], d) +
                        value(work.model->position()->table, cell % work.shape.tokens, d);
      const auto at = static_cast<std::size_t>(cell * kDim + d);
      bool same = false;
      if (type == ElementType::kFloat32) {
        same = reinterpret_cast<const float*>(work.out.data())[at] == sum;
      } else {
        const auto expected = type == ElementType::kFloat16 ? core::FloatToHalf(sum) : core::FloatToBFloat16(sum);
        same = reinterpret_cast<const std::uint16_t*>(work.out.data())[at] == expected;
      }
      if (!same) Fail("element " + std::to_string(d) + " of cell " + std::to_string(cell) + " is wrong");
    }
  }
}

Way ComposeWay(Workload* work, ElementType type, Stores stores) {
  auto plans = std::make_shared<std::vector<core::EmbedPlan>>(work->Plans(type));
  const auto compose = [work, plans, type, stores](std::size_t i) {
    const core::EmbedPlan& plan = (*plans)[i % plans->size()];
    plan.Compose(0, plan.row_count(), work->out.bytes().first(work->bytes(type)), stores);
  };
  std::memset(work->out.data(), 0xCD, work->out.size());
  compose(0);
  CheckResult(*work, type);
  return {.name = std::string(core::ElementTypeName(type)) + (stores == Stores::kCached ? " cached" : " streaming"),
          .type = type,
          .bytes = work->bytes(type),
          .seconds_per_call = [=] { return SecondsPerCall(work->bytes(type), compose); }};
}

Way CopyWay(Workload* work, ElementType type, bool cold) {
  const std::size_t bytes = work->bytes(type);
  const std::span<const std::byte> table = work->model->token().table.bytes();
  const auto copy = [=](std::size_t i) {
    // Steps of a prime number of rows, so that the pieces lie all over the table.
    const std::size_t offset = cold ? i * 7919 * kDim * sizeof(float) % (table.size() - bytes) : 0;
    std::memcpy(work->out.data(), (cold ? table.data() : work->source.data()) + offset, bytes);
    asm volatile("" : : "r"(work->out.data()) : "memory");
  };
  return {.name = cold ? kMemcpyCold : kMemcpyHot, .type = type, .bytes = bytes, .seconds_per_call = [=] {
            return SecondsPerCall(bytes, copy);
          }};
}

// The processes to compare with, by the name of what they measure; none where torch is left out.
using Torches = std::vector<std::pair<std::string, std::unique_ptr<TorchProcess>>>;

std::string StateOf(const Torches& torches) {
  for (const auto& [name, process] : torches) {
    if (!process->ready()) return process->state();
  }
  return torches.empty() ? "not run: --no-torch" : torches.front().second->state();
}

void Measure(const std::shared_ptr<const core::Model>& model, Shape shape, int rounds, const Torches& torches,
             KernelReport* report) {
  Workload work(model, shape);
  std::vector<Way> ways;
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16}) {
    for (const Stores stores : {Stores::kCached, Stores::kStreaming}) ways.push_back(ComposeWay(&work, type, stores));
  }
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat16}) {
    for (const bool cold : {false, true}) ways.push_back(CopyWay(&work, type, cold));
  }
  for (const auto& [name, process] : torches) {
    if (!process->ready()) continue;
    ways.push_back(
        {.name = name, .bytes = work.bytes(ElementType::kFloat32), .seconds_per_call = [shape, torch = process.get()] {
           return torch->SecondsPerCall(shape.batch, shape.tokens, kSecondsARound);
         }});
  }
  // In another order each round, and each way once untimed before it counts: whoever comes behind PyTorch, which reads
  // tables of its own, finds the caches full of them.
  std::vector<Way*> order;
  for (Way& way : ways) order.push_back(&way);
  std::mt19937_64 random(3);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (Way* way : order) {
      way->seconds_per_call();
      if (const auto seconds = way->seconds_per_call(); seconds.has_value()) way->seconds.push_back(*seconds);
    }
  }
  report->Add(shape, ways);
}

int Run(int argc, char** argv) {
  CLI::App app("Composition in one thread, against memcpy and PyTorch");
  int rounds = 9;
  std::string json, python = "/usr/bin/python3", script = EMBD_TORCH_SCRIPT;
  std::vector<std::string> shape_names = {"1,1", "1,16", "1,128", "8,512", "32,512"};
  bool no_torch = false;
  app.add_option("--rounds", rounds, "Interleaved rounds")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--json", json, "Write the results there, too");
  app.add_option("--shapes", shape_names, "Batch sizes and sequence lengths, as B,T")->capture_default_str();
  app.add_option("--python", python, "The interpreter that has torch")->capture_default_str();
  app.add_option("--torch-script", script, "torch_compose.py")->capture_default_str();
  app.add_flag("--no-torch", no_torch, "Leave torch out");
  CLI11_PARSE(app, argc, argv);
  std::vector<Shape> shapes;
  for (const std::string& name : shape_names) {
    const auto shape = ParseShape(name);
    if (!shape.has_value()) {
      std::fprintf(stderr, "kernel_benchmark: --shapes: %s is no B,T within [1, 1024]\n", name.c_str());
      return 2;
    }
    shapes.push_back(*shape);
  }
  Torches torches;
  if (!no_torch) {
    torches.emplace_back(kTorch, std::make_unique<TorchProcess>(python, script, false));
    torches.emplace_back(kTorchKeepingMemory, std::make_unique<TorchProcess>(python, script, true));
  }
  const auto model = MakeModel();
  KernelReport report({{"rounds", rounds},
                       {"embedding_dim", kDim},
                       {"vocab_size", kVocab},
                       {"max_context_length", kLength},
                       {"threads", 1},
                       {"simd", core::SimdTarget()},
                       {"torch", StateOf(torches)}});
  for (const Shape shape : shapes) Measure(model, shape, rounds, torches, &report);
  if (!json.empty() && !report.Write(json, StateOf(torches))) Fail("cannot write " + json);
  return 0;
}

}  // namespace
}  // namespace embd::bench

int main(int argc, char** argv) { return embd::bench::Run(argc, argv); }

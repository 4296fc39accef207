// Random invalid requests: refused by every route with the same code, reason and text, by one server that stays alive
// and as small as it was.
//
// The long run: INVALID_REQUESTS=100000 routes_test --gtest_filter='*Invalid*'; RANDOM_ROUTES_SEED=7 for others.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/bench/server_process.h"
#include "tests/integration/routes/broken_requests.h"
#include "tests/integration/routes/comparison.h"
#include "tests/integration/routes/random_requests.h"
#include "tests/integration/routes/random_server.h"

namespace embd::testing {
namespace {

constexpr std::size_t kRequestsAStream = 32;
// What the server may have grown by from the first tenth of the run, which fills its pools, to the end: pools that
// happen to be fuller, and arenas of malloc that happen to be less so.
constexpr std::int64_t kMaxGrowthBytes = std::int64_t{16} << 20;

// What became of the requests.
class Tally {
 public:
  template <typename Answers>
  void Add(const Answers& answers) {
    for (const auto& answer : answers) {
      if (answer.ok()) {
        ++valid_;
      } else {
        ++invalid_;
        ++refusals_[CodeAndReason(answer.status())];
      }
    }
  }
  [[nodiscard]] std::int64_t valid() const { return valid_; }
  [[nodiscard]] std::int64_t invalid() const { return invalid_; }
  [[nodiscard]] const std::map<std::string, std::int64_t>& refusals() const { return refusals_; }

 private:
  std::int64_t valid_ = 0;
  std::int64_t invalid_ = 0;
  std::map<std::string, std::int64_t> refusals_;
};

std::vector<v1::EmbedRequest> BrokenRequests(Draw& draw, const RandomModel& model, const std::string& region) {
  std::vector<v1::EmbedRequest> requests;
  while (requests.size() < kRequestsAStream) {
    requests.push_back(DrawRequest(draw, model).message);
    Spoil(draw, region, &requests.back());
  }
  return requests;
}

// Of both protocols.
v1::EmbedRequest DrawCommonRequest(Draw& draw, const RandomModel& model) {
  v1::EmbedRequest request = DrawRequest(draw, model).message;
  while (!HasInferForm(request, model.dim)) request = DrawRequest(draw, model).message;
  return request;
}

std::vector<v1::EmbedRequest> RequestsBrokenForEngine(Draw& draw, const RandomModel& model) {
  std::vector<v1::EmbedRequest> requests;
  while (requests.size() < kRequestsAStream) {
    requests.push_back(DrawCommonRequest(draw, model));
    SpoilForEngine(draw, &requests.back());
  }
  return requests;
}

std::vector<InferCall> BrokenInferCalls(Draw& draw, const RandomModel& model) {
  std::vector<InferCall> calls;
  while (calls.size() < kRequestsAStream) {
    calls.push_back(ToInferCall(DrawCommonRequest(draw, model)));
    Spoil(draw, &calls.back());
  }
  return calls;
}

double Mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

TEST(InvalidRequests, AreRefusedAlikeByAllRoutesAndTheServerStaysAliveAndSmall) {
  const std::int64_t wanted = FromEnvironment("INVALID_REQUESTS", 1000);
  Draw draw(static_cast<std::uint64_t>(FromEnvironment("RANDOM_ROUTES_SEED", 2026)));
  RandomServer server(draw);
  Comparison comparison(&server.routes());
  Tally tally;
  std::int64_t memory_before = 0;
  const absl::Time start = absl::Now();

  while (tally.invalid() < wanted && !::testing::Test::HasFailure()) {
    const RandomModel model = draw.Of(server.models());
    switch (draw.Below(4)) {
      case 0: tally.Add(comparison.Send(BrokenInferCalls(draw, model))); break;
      case 1: tally.Add(comparison.Send(RequestsBrokenForEngine(draw, model), model.dim)); break;
      default: tally.Add(comparison.Send(BrokenRequests(draw, model, server.routes().region()), model.dim));
    }
    if (memory_before == 0 && tally.invalid() >= wanted / 10) memory_before = bench::ProcessMemory(server.pid()).now;
  }

  const std::int64_t memory_after = bench::ProcessMemory(server.pid()).now;
  std::printf("%lld invalid requests and %lld that were valid by chance, sent %lld times by all routes, in %.0f s\n",
              static_cast<long long>(tally.invalid()), static_cast<long long>(tally.valid()),
              static_cast<long long>(comparison.sent()), absl::ToDoubleSeconds(absl::Now() - start));
  for (const auto& [refusal, count] : tally.refusals()) {
    std::printf("%8lld %s\n", static_cast<long long>(count), refusal.c_str());
  }
  std::printf("resident memory of the server: %.1f MiB after a tenth, %.1f MiB at the end\n", Mebibytes(memory_before),
              Mebibytes(memory_after));
  ASSERT_FALSE(::testing::Test::HasFailure()) << "not all were sent";
#ifndef EMBD_SANITIZED  // sanitizers keep what is freed
  EXPECT_LE(memory_after - memory_before, kMaxGrowthBytes);
#endif
  for (const char* const internal : {"INTERNAL [INTERNAL]", "UNKNOWN []", "UNAVAILABLE []"}) {
    EXPECT_FALSE(tally.refusals().contains(internal)) << internal;
  }
  EXPECT_GE(tally.refusals().size(), 12u) << "kinds of refusals";
  EXPECT_GT(tally.valid(), 0);
  EXPECT_GE(comparison.sent_in_other_words(), wanted / 8);
  EXPECT_TRUE(server.Stop());
}

}  // namespace
}  // namespace embd::testing

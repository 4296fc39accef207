#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/cli/command_runner.h"

// The ways in which single calls of `bench` fetch their tensors.
namespace embd::cli {
namespace {

using ::testing::AllOf;
using testing::CommandRunner;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Result;

using Json = nlohmann::json;

class BenchWays : public ::testing::Test {
 protected:
  Result Run(std::vector<std::string> arguments, const std::string& standard_input = "") {
    arguments.insert(arguments.begin(), {"bench", "--tokens", "3", "--warmup", "0"});
    return runner_.Run(arguments, standard_input);
  }

  CommandRunner runner_;
};

// A server that notes how tensors are to come.
class ChunksServer final : public client::FakeTransport {
 public:
  absl::StatusOr<client::EmbedInfo> Embed(const client::EmbedRequest& request, const Place& place,
                                          const client::CallOptions& options) override {
    {
      const std::lock_guard lock(mutex_);
      seen_.insert(options.chunks);
    }
    return FakeTransport::Embed(request, place, options);
  }

  std::set<client::Chunks> TakeSeen() {
    const std::lock_guard lock(mutex_);
    return std::exchange(seen_, {});
  }

 private:
  std::mutex mutex_;
  std::set<client::Chunks> seen_;
};

TEST_F(BenchWays, CombinationsWithoutASenseAreWrongUsageAndSaidSo) {
  struct Case {
    std::vector<std::string> arguments;
    const char* message;
  };
  for (const Case& each : std::vector<Case>{
           {{"--mode", "stream", "--chunks", "always"}, "--chunks is for --mode unary"},
           {{"--mode", "async", "--chunks", "auto"}, "--chunks is for --mode unary"},
           {{"--mode", "stream", "--shared-memory"}, "--shared-memory is for --mode unary"},
           {{"--mode", "async", "--cache", "1000"}, "--cache is for --mode unary"},
           {{"--shared-memory", "--chunks", "never"}, "--chunks is not for --shared-memory"},
           {{"--shared-memory", "--cache", "1000"}, "--cache and --shared-memory exclude each other"},
           {{"--cache", "1000", "--part", "position"}, "--part position has none"},
           {{"--cache", "1000", "--concurrency", "2", "--connections", "2"}, "--connections must be 1"}}) {
    SCOPED_TRACE(each.message);
    std::vector<std::string> line = {"tiny", "--calls", "1"};
    line.insert(line.end(), each.arguments.begin(), each.arguments.end());

    const Result result = Run(line);

    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_THAT(result.err, HasSubstr(each.message));
    EXPECT_THAT(result.out, IsEmpty());
  }
}

TEST_F(BenchWays, ChunksReachEveryCall) {
  const auto server = std::make_shared<ChunksServer>();
  server->AddModel({.name = "tiny", .embedding_dim = 2, .token = {0, 1, 2, 3}});
  runner_.fake = server;

  EXPECT_EQ(Run({"tiny", "--calls", "5"}).code, 0);
  EXPECT_THAT(server->TakeSeen(), ElementsAre(client::Chunks::kAuto));
  EXPECT_EQ(Run({"tiny", "--calls", "5", "--chunks", "never"}).code, 0);
  EXPECT_THAT(server->TakeSeen(), ElementsAre(client::Chunks::kNever));

  const Result always = Run({"tiny", "--calls", "5", "--chunks", "always"});
  EXPECT_EQ(always.code, 0);
  EXPECT_THAT(always.out, HasSubstr("on 1 connection, chunks always; closed loop\n"));
  EXPECT_THAT(server->TakeSeen(), ElementsAre(client::Chunks::kAlways));
}

TEST_F(BenchWays, RefusedSharedMemoryIsSaidBeforeTheLoad) {
  const Result result = Run({"tiny", "--calls", "5", "--shared-memory"});

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("FAILED_PRECONDITION (REGIONS_OFF): "));
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(runner_.fake->embed_requests(), IsEmpty());
}

// Ids 0, 1, 2 are fetched for the first call and are there for the other four; so are the rows of positions 0, 1, 2.
TEST_F(BenchWays, CacheIsSharedAndItsStatisticsAreReported) {
  const Result result =
      Run({"tiny", "--calls", "5", "--cache", "1000000", "--ids-file", "-", "--output", "json"}, "[0, 1, 2]");

  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["settings"]["cache_bytes"], 1000000);
  EXPECT_EQ(json["calls"], 5);
  EXPECT_EQ(json["payload_bytes"], 5 * 3 * 2 * 4);
  const Json& cache = json["cache"];
  EXPECT_EQ(cache["composed_calls"], 5);
  EXPECT_EQ(cache["plain_calls"], 0);
  EXPECT_EQ(cache["plain_reason"], nullptr);
  EXPECT_EQ(cache["misses"], 3);
  EXPECT_EQ(cache["hits"], 4 * 3);
  EXPECT_EQ(cache["rows_fetched"], 3);
  EXPECT_EQ(cache["rows_kept"], 3);
  EXPECT_EQ(cache["bytes_delivered"], 5 * 3 * 2 * 4);
  EXPECT_EQ(cache["bytes_saved"], cache["bytes_delivered"].get<int>() - cache["bytes_fetched"].get<int>());
}

TEST_F(BenchWays, CacheIsOneForAllCallers) {
  const Result result = Run({"plain", "--part", "token", "--calls", "200", "--concurrency", "4", "--cache", "1000000"});

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("through a cache of 1000000 bytes"), ContainsRegex("cache +[0-9]+ hits, "),
                                HasSubstr(" bytes in 200 calls; 3 rows in ")));
}

TEST_F(BenchWays, CacheThatDoesNotApplySaysWhy) {
  runner_.fake->AddModel({.name = "normed",
                          .embedding_dim = 2,
                          .token = {0, 1, 2, 3},
                          .layer_norm_weight = {1, 1},
                          .layer_norm_bias = {0, 0}});

  const Result result = Run({"normed", "--calls", "5", "--cache", "1000000"});

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, ContainsRegex("uncached +5 calls: the model has a LayerNorm\n"));
}

}  // namespace
}  // namespace embd::cli

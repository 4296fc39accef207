// What saves callers bytes: refusing once the tables they keep rows of have changed.

#include <map>
#include <string>

#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using client::EmbedRequest;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kV = 10, kD = 4, kL = 8;

config::ServerConfig Config() {
  config::ServerConfig config;
  config.models = {testing::SmallModel("tiny", kV, kD, kL)};
  return config;
}

EmbedRequest Request(std::vector<std::int64_t> ids, std::int64_t batch, std::int64_t tokens) {
  return {.model = "tiny", .ids = std::move(ids), .batch_size = batch, .sequence_length = tokens};
}

// One server for the suite, asked by the routes that have a wire.
class SmallerReplies : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    served_ = new testing::ServedModels(Config());
    routes_ = new std::map<std::string, testing::Route>;
    for (testing::Route& route : testing::AllRoutes(Config(), *served_)) routes_->emplace(route.name, route);
  }
  static void TearDownTestSuite() {
    delete routes_;
    delete served_;
  }

  static absl::StatusOr<client::Embedding> Embed(const EmbedRequest& request) {
    return routes_->at(GetParam()).embed(request);
  }

  static inline testing::ServedModels* served_ = nullptr;
  static inline std::map<std::string, testing::Route>* routes_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(ByEveryWire, SmallerReplies,
                         ::testing::Values("in_process", "in_process_stream", "tcp", "tcp_async", "tcp_into",
                                           "tcp_stream", "unix", "unix_stream"),
                         [](const auto& route) { return route.param; });

TEST_P(SmallerReplies, ChecksumOfTheTablesServedIsAccepted) {
  EmbedRequest request = Request({1, 2}, 1, 2);
  const auto first = Embed(request);
  ASSERT_THAT(first, IsOk());
  request.if_checksum = first->info().checksum;

  EXPECT_THAT(Embed(request), IsOk());
}

TEST_P(SmallerReplies, OtherChecksumIsRefusedAndNamesBoth) {
  EmbedRequest request = Request({1, 2}, 1, 2);
  const auto first = Embed(request);
  ASSERT_THAT(first, IsOk());
  request.if_checksum = "an\nother";

  EXPECT_THAT(Embed(request), AllOf(StatusIs(absl::StatusCode::kFailedPrecondition,
                                             "the tables of model \"tiny\" have checksum \"" + first->info().checksum +
                                                 "\", but if_checksum is \"an\\nother\""),
                                    ReasonIs("TABLES_CHANGED")));
}

TEST_P(SmallerReplies, ChecksumOf100KilobytesIsQuotedShort) {
  EmbedRequest request = Request({1, 2}, 1, 2);
  request.if_checksum = std::string(100'000, 'c');

  const auto result = Embed(request);

  EXPECT_THAT(result,
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("ccc…")), ReasonIs("TABLES_CHANGED")));
  EXPECT_LE(result.status().message().size(), 1024u);
}

TEST_P(SmallerReplies, ChangedTablesAreToldBeforeAnythingElseIsChecked) {
  EmbedRequest request = Request({1, 99}, 5, 7);
  request.if_checksum = "other";

  EXPECT_THAT(Embed(request), ReasonIs("TABLES_CHANGED"));
}

TEST_P(SmallerReplies, ModelThatIsNotServedIsToldBeforeItsChecksum) {
  EmbedRequest request = Request({1, 2}, 1, 2);
  request.model = "nobody";
  request.if_checksum = "other";

  EXPECT_THAT(Embed(request), ReasonIs("MODEL_NOT_FOUND"));
}

}  // namespace
}  // namespace embd

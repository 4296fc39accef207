// Nearest rows over the wire, and the same requests to the fake, which must agree.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "embd/client/fake_transport.h"
#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using client::InputTensor;
using client::Metric;
using client::NearestTokensRequest;
using client::TableKind;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Ids = std::vector<std::vector<std::int64_t>>;

constexpr std::int64_t kRows = 5000;
constexpr std::int64_t kDim = 33;
constexpr Metric kMetrics[] = {Metric::kCosine, Metric::kDot, Metric::kL2};

Ids IdsOf(const client::NearestTokens& nearest) {
  Ids ids;
  for (const auto& rows : nearest.queries) {
    auto& list = ids.emplace_back();
    for (const client::NearRow& row : rows) list.push_back(row.id);
  }
  return ids;
}

// Two models: many random rows without words, and five words.
class Nearest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("embd-near-" + std::to_string(getpid()) + ".txt")).string();
    std::ofstream(path) << "king 3 1\nqueen 3 2\nman 1 0\nwoman 1 1\ntoad -2 0.5\n";
    config::ServerConfig config;
    config.models = {testing::SmallModel("random", kRows, kDim, 8),
                     {.name = "words", .token = config::TableFile{.path = path}}};
    served_ = new testing::ServedModels(config);
    std::filesystem::remove(path);
    client_ = new client::Client(served_->TcpClient());

    auto fake = std::make_shared<client::FakeTransport>();
    fake->AddModel({.name = "random",
                    .embedding_dim = kDim,
                    .token = Rows("random", kRows, client::Part::kToken),
                    .position = Rows("random", 8, client::Part::kPosition)});
    fake->AddModel({.name = "words",
                    .embedding_dim = 2,
                    .token = {3, 1, 3, 2, 1, 0, 1, 1, -2, 0.5},
                    .vocabulary = {"king", "queen", "man", "woman", "toad"}});
    fake_ = new client::Client(fake);
  }
  static void TearDownTestSuite() {
    delete fake_;
    delete client_;
    delete served_;
  }

  // The first rows of a table.
  static std::vector<float> Rows(const std::string& model, std::int64_t count, client::Part part) {
    client::EmbedRequest request = {.model = model, .batch_size = 1, .sequence_length = count, .part = part};
    if (part == client::Part::kToken) {
      for (std::int64_t id = 0; id < count; ++id) request.ids.push_back(id);
    }
    const auto rows = client_->Embed(request).value();
    const auto floats = rows.As<float>().value();
    return {floats.begin(), floats.end()};
  }

  // What both find; the fake compares every row with every query in double.
  static client::NearestTokens Find(const NearestTokensRequest& request) {
    const auto found = client_->NearestTokens(request);
    const auto expected = fake_->NearestTokens(request);
    EXPECT_THAT(found, IsOk());
    EXPECT_THAT(expected, IsOk());
    if (!found.ok() || !expected.ok()) return {};
    EXPECT_EQ(IdsOf(*found), IdsOf(*expected));
    EXPECT_EQ(found->table, expected->table);
    for (std::size_t q = 0; q < std::min(found->queries.size(), expected->queries.size()); ++q) {
      const auto& rows = found->queries[q];
      for (std::size_t i = 0; i < std::min(rows.size(), expected->queries[q].size()); ++i) {
        EXPECT_NEAR(rows[i].score, expected->queries[q][i].score, 1e-12);
        EXPECT_EQ(rows[i].token, expected->queries[q][i].token);
      }
    }
    return *found;
  }

  static testing::ServedModels* served_;
  static client::Client* client_;
  static client::Client* fake_;
};
testing::ServedModels* Nearest::served_ = nullptr;
client::Client* Nearest::client_ = nullptr;
client::Client* Nearest::fake_ = nullptr;

TEST_F(Nearest, RowsOfManyQueriesAreThoseOfASearchOneByOne) {
  for (const Metric metric : kMetrics) {
    SCOPED_TRACE(MetricName(metric));
    const auto found = Find({.model = "random", .ids = {0, 17, 4999, 17, 2500, 3}, .top_k = 25, .metric = metric});
    ASSERT_EQ(found.queries.size(), 6u);
    for (const auto& rows : found.queries) EXPECT_EQ(rows.size(), 25u);
    EXPECT_EQ(found.table, TableKind::kToken);
  }
}

TEST_F(Nearest, RowThatIsAskedForIsLeftOutUnlessItIsWanted) {
  const auto without = Find({.model = "random", .ids = {42}});
  const auto with = Find({.model = "random", .ids = {42}, .include_queries = true});

  ASSERT_EQ(without.queries.at(0).size(), 10u);
  ASSERT_EQ(with.queries.at(0).size(), 10u);
  EXPECT_NE(without.queries[0][0].id, 42);
  EXPECT_EQ(with.queries[0][0].id, 42);
  EXPECT_NEAR(with.queries[0][0].score, 1.0, 1e-15);
}

TEST_F(Nearest, OtherTablesAreSearchedToTheirLastRow) {
  const auto found = Find({.model = "random", .ids = {5}, .top_k = 1024, .table = TableKind::kPosition});

  EXPECT_EQ(found.table, TableKind::kPosition);
  EXPECT_EQ(found.queries.at(0).size(), 7u);
}

TEST_F(Nearest, VectorsOfEveryFloatTypeAreQueries) {
  const std::vector<double> doubles = {1, 0.25, -2, 1};
  InputTensor wide = {.data_type = client::DataType::kFloat64, .shape = {2, 2}, .bytes = {}};
  const auto bytes = std::as_bytes(std::span(doubles));
  wide.bytes.assign(bytes.begin(), bytes.end());
  const std::vector<float> floats = {1, 0.25, -2, 1};
  const InputTensor tensors[] = {InputTensor::FromFloats(floats, {2, 2}),
                                 wide,
                                 // 1, 0.25, -2, 1
                                 {.data_type = client::DataType::kFloat16,
                                  .shape = {2, 2},
                                  .bytes = {std::byte{0}, std::byte{0x3C}, std::byte{0}, std::byte{0x34}, std::byte{0},
                                            std::byte{0xC0}, std::byte{0}, std::byte{0x3C}}}};
  for (const InputTensor& tensor : tensors) {
    SCOPED_TRACE(DataTypeName(tensor.data_type));
    EXPECT_EQ(IdsOf(Find({.model = "words", .vectors = tensor, .top_k = 2})), (Ids{{0, 2}, {4, 3}}));
  }
  EXPECT_EQ(
      IdsOf(Find({.model = "words", .vectors = InputTensor::FromFloats(std::span(floats).first(2), {2}), .top_k = 1})),
      (Ids{{0}}));
}

TEST_F(Nearest, WordsAskAndAnswer) {
  const auto found =
      Find({.model = "words", .tokens = {"king", "toad"}, .top_k = 1, .metric = Metric::kL2, .with_tokens = true});

  ASSERT_EQ(found.queries.size(), 2u);
  EXPECT_EQ(found.queries[0].at(0).token, "queen");
  EXPECT_EQ(found.queries[0].at(0).score, 1.0);
  EXPECT_EQ(found.queries[1].at(0).token, "man");
}

TEST_F(Nearest, AnalogyIsASumOfRowsAndOfRowsOfLengthOneForTheCosine) {
  for (const Metric metric : kMetrics) {
    SCOPED_TRACE(MetricName(metric));
    Find({.model = "random",
          .analogies = {{.plus_ids = {3, 4000}, .minus_ids = {77}}, {.plus_ids = {9, 9}}},
          .metric = metric});
  }
  const NearestTokensRequest royal = {.model = "words",
                                      .analogies = {{.plus_tokens = {"king", "woman"}, .minus_tokens = {"man"}}},
                                      .top_k = 1,
                                      .metric = Metric::kL2,
                                      .with_tokens = true};
  EXPECT_EQ(Find(royal).queries.at(0).at(0).token, "queen");
}

struct Refusal {
  NearestTokensRequest request;
  absl::StatusCode code;
  std::string reason;
  std::string message;
};

std::vector<Refusal> Refusals() {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kUnable = absl::StatusCode::kFailedPrecondition;
  const auto vectors = [](std::vector<std::int64_t> shape) {
    return InputTensor::FromFloats(std::vector<float>(4), std::move(shape));
  };
  InputTensor whole = vectors({2, 2});
  whole.data_type = client::DataType::kInt32;
  return {
      {{.model = "words"}, kInvalid, "INVALID_OPTION", "no queries"},
      {{.model = "words", .ids = {1}, .tokens = {"king"}},
       kInvalid,
       "INVALID_OPTION",
       "ids and tokens exclude each other"},
      {{.model = "words", .ids = std::vector<std::int64_t>(1025)},
       kInvalid,
       "INVALID_OPTION",
       "1025 ids exceed the 1024 queries"},
      {{.model = "words", .ids = {1}, .top_k = 1025}, kInvalid, "INVALID_OPTION", "top_k = 1025 is outside [0, 1024]"},
      {{.model = "words", .ids = {1}, .top_k = -1}, kInvalid, "INVALID_OPTION", "top_k = -1"},
      {{.model = "words", .ids = {1}, .metric = static_cast<Metric>(9)}, kInvalid, "UNKNOWN_ENUM_VALUE", "metric = 9"},
      {{.model = "words", .ids = {1}, .table = static_cast<TableKind>(9)}, kInvalid, "UNKNOWN_ENUM_VALUE", "table = 9"},
      {{.model = "words", .ids = {4, 5}},
       kInvalid,
       "ID_OUT_OF_RANGE",
       "ids[1] = 5 is outside [0, 5) of TABLE_KIND_TOKEN of model \"words\""},
      {{.model = "words", .analogies = {{.plus_ids = {0}}, {.minus_ids = {-1}}}},
       kInvalid,
       "ID_OUT_OF_RANGE",
       "analogies[1].minus_ids[0] = -1 is outside [0, 5)"},
      {{.model = "words", .analogies = {{}}}, kInvalid, "INVALID_OPTION", "analogies[0] names no rows"},
      {{.model = "words", .tokens = {"king", "kong"}},
       kInvalid,
       "UNKNOWN_TOKEN",
       "tokens[1] = \"kong\" is not in the vocabulary of model \"words\", which has 5 words"},
      {{.model = "random", .tokens = {"king"}}, kUnable, "NO_VOCABULARY", "has no vocabulary"},
      {{.model = "random", .ids = {1}, .with_tokens = true}, kUnable, "NO_VOCABULARY", "has no vocabulary"},
      {{.model = "random", .tokens = {"king"}, .table = TableKind::kPosition},
       kInvalid,
       "INVALID_OPTION",
       "words name rows of the token table"},
      {{.model = "random", .ids = {1}, .table = TableKind::kPosition, .with_tokens = true},
       kInvalid,
       "INVALID_OPTION",
       "have no words"},
      {{.model = "words", .ids = {1}, .table = TableKind::kPosition},
       kUnable,
       "NO_POSITION_TABLE",
       "no position table"},
      {{.model = "words", .ids = {1}, .table = TableKind::kTokenType}, kUnable, "NO_SUCH_TABLE", "no table of kind"},
      {{.model = "words", .vectors = vectors({1, 4})},
       kInvalid,
       "INVALID_SHAPE",
       "vectors.shape must be (N, 2) or (2), N in [1, 1024], got (1, 4)"},
      {{.model = "words", .vectors = vectors({3, 2})},
       kInvalid,
       "INVALID_SHAPE",
       "vectors.data has 16 bytes, but (3, 2) float32 needs 24"},
      {{.model = "words", .vectors = whole}, kInvalid, "INVALID_OPTION", "vectors.data_type"},
      {{.model = "x", .ids = {1}}, absl::StatusCode::kNotFound, "MODEL_NOT_FOUND", "there is no model \"x\""},
      {{.model = "words", .ids = {1}, .model_version = "7"}, absl::StatusCode::kNotFound, "VERSION_NOT_FOUND", "7"}};
}

TEST_F(Nearest, RefusalsSayWhatIsWrongAndTheFakeAgrees) {
  for (const Refusal& refusal : Refusals()) {
    SCOPED_TRACE(refusal.message);
    EXPECT_THAT(client_->NearestTokens(refusal.request),
                AllOf(StatusIs(refusal.code, HasSubstr(refusal.message)), ReasonIs(refusal.reason)));
    EXPECT_THAT(fake_->NearestTokens(refusal.request),
                AllOf(StatusIs(refusal.code, ::testing::_), ReasonIs(refusal.reason)));
  }
}

// A thousand queries, each nearest to all rows alike, take seconds.
TEST(NearestOfEqualRows, EndsWhenItsTimeIsUp) {
  config::ServerConfig config;
  config.models = {testing::SmallModel("equal", 100'000, 64, 0)};
  const testing::ServedModels served(config);

  const auto found = served.TcpClient().NearestTokens(
      {.model = "equal", .vectors = InputTensor::FromFloats(std::vector<float>(1024 * 64), {1024, 64})},
      {.timeout = absl::Milliseconds(100)});

  EXPECT_THAT(found, StatusIs(absl::StatusCode::kDeadlineExceeded, ::testing::_));
}

}  // namespace
}  // namespace embd

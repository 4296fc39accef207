// EmbedBags through the wire, by the client library.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "embd/client/error.h"
#include "embd/client/fake_transport.h"
#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using client::Bag;
using client::BagMode;
using client::DataType;
using client::EmbedBagsRequest;
using client::PooledBags;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Floats = std::vector<float>;
using Ids = std::vector<std::int64_t>;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;
constexpr std::int64_t kVocab = 50;

config::ServerConfig Config() {
  config::ServerConfig config;
  config.models = {testing::SmallModel("narrow", kVocab, 3, 0), testing::SmallModel("wide", kVocab, 40, 0),
                   testing::SmallModel("padded", kVocab, 16, 0), testing::SmallModel("lenient", kVocab, 4, 0)};
  config.models[2].padding_idx = 0;
  config.models[3].out_of_range = config::OutOfRange{.policy = config::OutOfRange::Policy::kZero};
  config.limits.max_batch_size = 4096;
  config.limits.max_sequence_length = 2048;
  config.limits.max_response_bytes = 8 << 20;
  return config;
}

class EmbedBags : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { served_ = new testing::ServedModels(Config()); }
  static void TearDownTestSuite() {
    delete served_;
    served_ = nullptr;
  }

  static client::Client Client() { return served_->TcpClient(); }
  static absl::StatusOr<PooledBags> Ask(const EmbedBagsRequest& request) { return Client().EmbedBags(request); }
  static absl::Status Refusal(const EmbedBagsRequest& request) { return Ask(request).status(); }

  // The token rows of a model, V of them.
  static Floats Rows(const std::string& model) {
    client::EmbedRequest request = {
        .model = model, .batch_size = 1, .sequence_length = kVocab, .part = client::Part::kToken};
    for (std::int64_t id = 0; id < kVocab; ++id) request.ids.push_back(id);
    const auto embedding = Client().Embed(request);
    EXPECT_THAT(embedding, IsOk());
    const auto values = embedding->As<float>();
    return {values->begin(), values->end()};
  }

  // A fake that serves the same tables.
  static std::shared_ptr<client::FakeTransport> Fake() {
    auto fake = std::make_shared<client::FakeTransport>();
    for (const char* const name : {"narrow", "wide", "padded"}) {
      Floats rows = Rows(name);
      client::FakeModel model = {.name = name, .embedding_dim = static_cast<std::int64_t>(rows.size()) / kVocab};
      model.token = std::move(rows);
      if (model.name == "padded") model.padding_idx = 0;
      fake->AddModel(std::move(model));
    }
    return fake;
  }

  static testing::ServedModels* served_;
};

testing::ServedModels* EmbedBags::served_ = nullptr;

Bag RandomBag(const std::string& model, BagMode mode, std::size_t bags, bool weighted, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bag bag = {.model = model, .mode = mode};
  for (std::size_t b = 0; b < bags; ++b) {
    bag.row_lengths.push_back(static_cast<std::int64_t>(random() % 6));
    for (std::int64_t i = 0; i < bag.row_lengths.back(); ++i) {
      bag.ids.push_back(static_cast<std::int64_t>(random() % kVocab));
      if (weighted) bag.weights.push_back(static_cast<float>(random() % 1000) / 250.0f - 2);
    }
  }
  return bag;
}

void ExpectSame(const PooledBags& actual, const PooledBags& expected) {
  EXPECT_EQ(actual.models, expected.models);
  ASSERT_EQ(actual.embeddings.size(), expected.embeddings.size());
  for (std::size_t i = 0; i < actual.embeddings.size(); ++i) {
    EXPECT_EQ(actual.embeddings[i].data_type, expected.embeddings[i].data_type) << i;
    EXPECT_EQ(actual.embeddings[i].shape, expected.embeddings[i].shape) << i;
    EXPECT_EQ(actual.embeddings[i].data, expected.embeddings[i].data) << i;
  }
}

// Many models, modes, lengths, weights, types: bit for bit what the fake computes one component at a time.
TEST_F(EmbedBags, AnswerManyModelsInOneCallAsTheFakeDoes) {
  const client::Client fake(Fake());
  EmbedBagsRequest request;
  std::uint64_t seed = 0;
  for (const char* const model : {"narrow", "wide", "padded"}) {
    for (const BagMode mode : {BagMode::kSum, BagMode::kMean, BagMode::kMax, BagMode::kSqrtN, BagMode::kUnspecified}) {
      request.bags.push_back(RandomBag(model, mode, 1 + seed % 40, false, seed));
      ++seed;
      if (mode != BagMode::kMax) request.bags.push_back(RandomBag(model, mode, 20, true, ++seed));
    }
  }
  for (const DataType type : {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
    request.output_type = type;
    ASSERT_OK_AND_ASSIGN(const PooledBags pooled, Ask(request));
    ASSERT_OK_AND_ASSIGN(const PooledBags expected, fake.EmbedBags(request));
    ExpectSame(pooled, expected);
  }
}

TEST_F(EmbedBags, ConcatenateModelsSideBySide) {
  const client::Client fake(Fake());
  EmbedBagsRequest request = {.concatenate = true};
  for (const char* const model : {"narrow", "wide", "narrow"}) {
    request.bags.push_back(RandomBag(model, BagMode::kSum, 33, true, request.bags.size()));
  }

  ASSERT_OK_AND_ASSIGN(const PooledBags pooled, Ask(request));

  ASSERT_THAT(pooled.embeddings, SizeIs(1));
  EXPECT_THAT(pooled.embeddings[0].shape, ElementsAre(33, 46));
  ASSERT_OK_AND_ASSIGN(const PooledBags expected, fake.EmbedBags(request));
  ExpectSame(pooled, expected);
}

// Work that several threads share, and whose request is decoded on one of them.
TEST_F(EmbedBags, LargeOnesAreThoseOfSmallOnes) {
  EmbedBagsRequest all;
  for (std::uint64_t i = 0; i < 40; ++i) all.bags.push_back(RandomBag("wide", BagMode::kMean, 1000, true, i));

  ASSERT_OK_AND_ASSIGN(const PooledBags pooled, Ask(all));

  ASSERT_THAT(pooled.embeddings, SizeIs(40));
  for (std::size_t i = 0; i < 40; i += 13) {
    ASSERT_OK_AND_ASSIGN(const PooledBags one, Ask({.bags = {all.bags[i]}}));
    EXPECT_EQ(one.embeddings[0].data, pooled.embeddings[i].data) << i;
  }
}

TEST_F(EmbedBags, TellTheChecksumsOfTheModels) {
  ASSERT_OK_AND_ASSIGN(const PooledBags pooled, Ask({.bags = {{.model = "wide"}, {.model = "narrow"}}}));

  EXPECT_THAT(pooled.models, ElementsAre("wide", "narrow"));
  EXPECT_THAT(pooled.checksums, ElementsAre(Client().DescribeModel({.model = "wide"})->checksum,
                                            Client().DescribeModel({.model = "narrow"})->checksum));
  EXPECT_THAT(pooled.embeddings[0].shape, ElementsAre(0, 40));
}

client::InputTensor IdsTensor(DataType type, const std::vector<std::int32_t>& ids, std::vector<std::int64_t> shape) {
  client::InputTensor tensor = {.data_type = type, .shape = std::move(shape)};
  for (const std::int64_t id : ids) {
    const std::size_t size = type == DataType::kInt64 ? 8 : 4;
    const auto* const bytes = reinterpret_cast<const std::byte*>(&id);
    tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + size);
  }
  return tensor;
}

TEST_F(EmbedBags, TakeRawIdsOfEveryType) {
  ASSERT_OK_AND_ASSIGN(const PooledBags plain,
                       Ask({.bags = {{.model = "wide", .ids = {1, 2, 3, 4, 5, 6}, .row_lengths = {3, 3}}}}));
  for (const DataType type : {DataType::kInt32, DataType::kInt64, DataType::kUint32}) {
    ASSERT_OK_AND_ASSIGN(
        const PooledBags pooled,
        Ask({.bags = {
                 {.model = "wide", .ids_tensor = IdsTensor(type, {1, 2, 3, 4, 5, 6}, {2, 3})},
                 {.model = "wide", .row_lengths = {3, 3}, .ids_tensor = IdsTensor(type, {1, 2, 3, 4, 5, 6}, {6})}}}));
    EXPECT_EQ(pooled.embeddings[0].data, plain.embeddings[0].data);
    EXPECT_EQ(pooled.embeddings[1].data, plain.embeddings[0].data);
  }
}

TEST_F(EmbedBags, CountIdsThatAModelReadsAsZero) {
  ASSERT_OK_AND_ASSIGN(const auto before, Client().DescribeModel({.model = "lenient"}));
  ASSERT_OK_AND_ASSIGN(const PooledBags pooled,
                       Ask({.bags = {{.model = "lenient", .ids = {-1, kVocab}, .row_lengths = {2}}}}));

  ASSERT_OK_AND_ASSIGN(const auto values, pooled.embeddings[0].floats());
  EXPECT_THAT(values, ElementsAre(0, 0, 0, 0));
  ASSERT_OK_AND_ASSIGN(const auto after, Client().DescribeModel({.model = "lenient"}));
  EXPECT_EQ(after.out_of_range_ids - before.out_of_range_ids, 2);
}

TEST_F(EmbedBags, RefuseTheFirstBadBagByItsPlace) {
  const Bag good = {.model = "narrow", .ids = {1}, .row_lengths = {1}};
  const auto with = [&good](const Bag& bad) { return EmbedBagsRequest{.bags = {good, bad, {.model = "nowhere"}}}; };
  Bag bag = good;
  bag.ids = {kVocab};
  EXPECT_THAT(Refusal(with(bag)), AllOf(StatusIs(kInvalid, StartsWith("bags[1].ids[0] = 50 is outside [0, 50)")),
                                        ReasonIs("ID_OUT_OF_RANGE")));
  EXPECT_THAT(Refusal(with(good)),
              AllOf(StatusIs(absl::StatusCode::kNotFound, StartsWith("bags[2].model: ")), ReasonIs("MODEL_NOT_FOUND")));
  bag = good;
  bag.model_version = "9";
  EXPECT_THAT(Refusal(with(bag)), AllOf(StatusIs(absl::StatusCode::kNotFound, StartsWith("bags[1].model: ")),
                                        ReasonIs("VERSION_NOT_FOUND")));
  bag = good;
  bag.mode = static_cast<BagMode>(9);
  EXPECT_THAT(Refusal(with(bag)),
              AllOf(StatusIs(kInvalid, StartsWith("bags[1].mode = 9")), ReasonIs("UNKNOWN_ENUM_VALUE")));
  bag = good;
  bag.row_lengths = {2};
  EXPECT_THAT(Refusal(with(bag)),
              AllOf(StatusIs(kInvalid, StartsWith("bags[1].row_lengths")), ReasonIs("INVALID_SHAPE")));
  bag = good;
  bag.weights = {std::nanf("")};
  EXPECT_THAT(Refusal(with(bag)),
              AllOf(StatusIs(kInvalid, StartsWith("bags[1].weights[0]")), ReasonIs("INVALID_OPTION")));
  bag = good;
  bag.ids_tensor = IdsTensor(DataType::kInt32, {1}, {1, 1});
  EXPECT_THAT(Refusal(with(bag)), AllOf(StatusIs(kInvalid, HasSubstr("ids and ids_tensor exclude each other")),
                                        ReasonIs("INVALID_OPTION")));
  bag.ids.clear();
  EXPECT_THAT(Refusal(with(bag)),
              AllOf(StatusIs(kInvalid, StartsWith("bags[1].ids_tensor.shape must be")), ReasonIs("INVALID_SHAPE")));
  bag.row_lengths.clear();
  bag.ids_tensor->data_type = DataType::kFloat32;
  EXPECT_THAT(Refusal(with(bag)), AllOf(StatusIs(kInvalid, StartsWith("bags[1].ids_tensor.data_type float32")),
                                        ReasonIs("INVALID_OPTION")));
}

TEST_F(EmbedBags, RefuseWhatNoBagIsToBlameFor) {
  EXPECT_THAT(Refusal({}), AllOf(StatusIs(kInvalid, HasSubstr("bags has 0 values; allowed are 1 to 1024")),
                                 ReasonIs("INVALID_OPTION")));
  EXPECT_THAT(Refusal({.bags = std::vector<Bag>(1025, Bag{.model = "narrow"})}),
              AllOf(StatusIs(kInvalid, HasSubstr("bags has 1025 values")), ReasonIs("INVALID_OPTION")));
  EXPECT_THAT(Refusal({.bags = {{.model = "narrow"}}, .output_type = DataType::kInt64}),
              AllOf(StatusIs(kInvalid, HasSubstr("output_type int64")), ReasonIs("INVALID_OPTION")));
}

TEST_F(EmbedBags, RefuseMoreThanTheLimits) {
  EXPECT_THAT(Refusal({.bags = {{.model = "narrow", .row_lengths = Ids(4097)}}}),
              AllOf(StatusIs(kExhausted, HasSubstr("max_batch_size 4096")), ReasonIs("REQUEST_TOO_LARGE")));
  EXPECT_THAT(Refusal({.bags = {{.model = "narrow", .ids = Ids(2049), .row_lengths = {2049}}}}),
              AllOf(StatusIs(kExhausted, HasSubstr("max_sequence_length 2048")), ReasonIs("REQUEST_TOO_LARGE")));
  const Bag large = {.model = "wide", .row_lengths = Ids(4096)};  // 640 KiB
  EXPECT_THAT(Refusal({.bags = std::vector<Bag>(13, large)}),
              AllOf(StatusIs(kExhausted, StartsWith("bags[12].")), ReasonIs("RESPONSE_TOO_LARGE")));
  // An extent that is no list: nothing of its size is allocated.
  EXPECT_THAT(Refusal({.bags = {{.model = "narrow", .ids_tensor = IdsTensor(DataType::kInt32, {}, {1LL << 60, 0})}}}),
              AllOf(StatusIs(kExhausted, HasSubstr("max_batch_size 4096")), ReasonIs("REQUEST_TOO_LARGE")));
}

TEST_F(EmbedBags, TheFakeRefusesWithTheSameCodesAndReasons) {
  const client::Client fake(Fake());
  const Bag good = {.model = "narrow", .ids = {1, 2}, .row_lengths = {2}};
  std::vector<EmbedBagsRequest> bad = {{}, {.bags = {good}, .output_type = DataType::kInt64}};
  const auto add = [&](auto change) {
    Bag bag = good;
    change(bag);
    bad.push_back({.bags = {good, bag}, .concatenate = true});
  };
  add([](Bag& bag) { bag.model = "nowhere"; });
  add([](Bag& bag) { bag.ids[1] = -1; });
  add([](Bag& bag) { bag.mode = static_cast<BagMode>(7); });
  add([](Bag& bag) { bag.row_lengths = {1}; });
  add([](Bag& bag) { bag.row_lengths = {3}; });
  add([](Bag& bag) { bag.row_lengths = {2, 0}; });
  add([](Bag& bag) { bag.row_lengths = {-1, 3}; });
  add([](Bag& bag) { bag.weights = {1}; });
  add([](Bag& bag) { bag.weights = {1, INFINITY}; });
  add([](Bag& bag) {
    bag.weights = {1, 1};
    bag.mode = BagMode::kMax;
  });
  add([](Bag& bag) { bag.ids_tensor = IdsTensor(DataType::kInt32, {1}, {1, 1}); });
  for (const EmbedBagsRequest& request : bad) {
    const absl::Status served = Refusal(request), faked = fake.EmbedBags(request).status();
    SCOPED_TRACE(served.ToString());
    EXPECT_FALSE(served.ok());
    EXPECT_EQ(faked.code(), served.code()) << faked;
    EXPECT_EQ(client::ErrorReason(faked), client::ErrorReason(served)) << faked;
  }
}

TEST_F(EmbedBags, CancelledCallsEnd) {
  std::stop_source stop;
  stop.request_stop();

  EXPECT_THAT(Client().EmbedBags({.bags = {{.model = "narrow"}}}, {.cancel = stop.get_token()}),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("")));
}

}  // namespace
}  // namespace embd

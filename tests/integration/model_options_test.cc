// What a model's keys in the configuration do to what is served: from YAML to reply.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "server/config/load.h"
#include "server/core/tensor/float_bits.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd {
namespace {

using client::DataType;
using client::EmbedRequest;
using client::Part;
using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pointwise;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

EmbedRequest Row(std::vector<std::int64_t> ids, const std::string& model = "m") {
  const auto tokens = static_cast<std::int64_t>(ids.size());
  return {.model = model, .ids = std::move(ids), .batch_size = 1, .sequence_length = tokens};
}

template <typename T>
std::vector<T> ElementsOf(const absl::StatusOr<client::Embedding>& result) {
  EXPECT_THAT(result, IsOk());
  if (!result.ok()) return {};
  std::vector<T> elements(result->bytes().size() / sizeof(T));
  std::memcpy(elements.data(), result->bytes().data(), result->bytes().size());
  return elements;
}

/// Configurations over files of a temporary folder.
class ModelOptions : public ::testing::Test {
 protected:
  /// The models of a YAML list such as "{ name: m, token: … }".
  static config::ServerConfig Config(const std::vector<std::string>& models) {
    auto config = config::ParseYaml(absl::StrCat("models: [", absl::StrJoin(models, ", "), "]"), "e.yaml");
    EXPECT_THAT(config, IsOk());
    return config.value_or(config::ServerConfig{});
  }

  /// One row of `dim` equal elements of a type of 16 bits.
  std::string SixteenBits(const std::string& name, const std::string& dtype, std::int64_t dim, std::uint16_t bits) {
    const std::string data = formats::Raw(std::vector<std::uint16_t>(static_cast<std::size_t>(dim), bits));
    const std::string entry = formats::Entry("t", dtype, absl::StrCat("[1,", dim, "]"), 0, data.size());
    return folder_.Write(name + ".safetensors", formats::SafetensorsFile(formats::Header({entry}), data));
  }

  /// Ten token rows of width 4 and eight position rows, all of small whole numbers, so that sums are exact.
  std::string TokenFile() { return Counting("token.npy", 10, 1); }
  std::string PositionFile() { return Counting("position.npy", 8, 1000); }

 private:
  // Element i is first + i.
  std::string Counting(const std::string& name, std::int64_t rows, int first) {
    std::vector<float> values;
    for (int i = 0; i < rows * 4; ++i) values.push_back(static_cast<float>(first + i));
    const std::string dict = formats::NpyDict("'<f4'", absl::StrCat("(", rows, ", 4)"));
    return folder_.Write(name, formats::NpyFile(dict, formats::Raw(values)));
  }

  formats::ScratchFolder folder_;
};

// Gemma's factors for the widths of its sizes: a report of two programs that rounded them differently.
TEST_F(ModelOptions, RootOfTheWidthIsRoundedToTheStoredTypeWhereAsked) {
  const std::pair<std::int64_t, float> kFactors[] = {{3072, 55.5f},  {2048, 45.25f}, {2304, 48.0f},
                                                     {3584, 59.75f}, {1152, 34.0f},  {2560, 50.5f}};
  constexpr std::uint16_t kOne = 0x3F80;
  std::vector<std::string> models;
  for (const auto& [dim, factor] : kFactors) {
    const std::string file = SixteenBits(absl::StrCat("ones", dim), "BF16", dim, kOne);
    for (const char* const rounding : {"weight_dtype", "float32"}) {
      models.push_back(absl::StrCat("{ name: ", rounding, dim, ", token: { file: ", file,
                                    ", scale: sqrt_dim, scale_rounding: ", rounding, " } }"));
    }
  }
  const testing::ServedModels served(Config(models));
  const client::Client client = served.InProcessClient();

  for (const auto& [dim, factor] : kFactors) {
    SCOPED_TRACE(dim);
    const auto rounded = ElementsOf<float>(client.Embed(Row({0}, absl::StrCat("weight_dtype", dim))));
    const auto exact = ElementsOf<float>(client.Embed(Row({0}, absl::StrCat("float32", dim))));
    ASSERT_EQ(rounded.size(), static_cast<std::size_t>(dim));
    EXPECT_THAT(rounded, Each(factor));
    EXPECT_THAT(exact, Each(std::sqrt(static_cast<float>(dim))));
  }
  EXPECT_THAT(ElementsOf<float>(client.Embed(Row({0}, "float323072"))), Each(FloatNear(55.4256f, 5e-5f)));
}

// A report of a scale that one branch applied and another did not.
TEST_F(ModelOptions, ScaleTouchesTokenRowsAloneAndIsTold) {
  const std::string position = absl::StrCat("position: { learned: { file: ", PositionFile(), " } }");
  const auto config = Config({absl::StrCat("{ name: m, token: { file: ", TokenFile(), ", scale: 2 }, ", position, " }"),
                              absl::StrCat("{ name: plain, token: { file: ", TokenFile(), " }, ", position, " }")});
  const testing::ServedModels served(config);

  for (const testing::Route& route : testing::AllRoutes(config, served)) {
    SCOPED_TRACE(route.name);
    EmbedRequest request = Row({7, 0, 9});
    const auto composed = ElementsOf<float>(route.embed(request));
    request.part = Part::kToken;
    const auto token = ElementsOf<float>(route.embed(request));
    request.part = Part::kPosition;
    const auto rows = ElementsOf<float>(route.embed(request));
    EmbedRequest unscaled = Row({7, 0, 9}, "plain");
    unscaled.part = Part::kToken;
    const auto stored = ElementsOf<float>(route.embed(unscaled));

    ASSERT_EQ(composed.size(), 12u);
    for (std::size_t i = 0; i < composed.size(); ++i) {
      EXPECT_EQ(composed[i] - rows[i], 2 * stored[i]);
      EXPECT_EQ(token[i], 2 * stored[i]);
    }
  }
  EXPECT_EQ(served.InProcessClient().DescribeModel({.model = "m"})->token_scale, 2.0);
  EXPECT_EQ(served.InProcessClient().DescribeModel({.model = "plain"})->token_scale, 1.0);
}

// A report of a special token whose id is V, one past the last row: the whole batch failed.
TEST_F(ModelOptions, UnknownRowStandsInIsCountedAndWarnedOfOnceInTheLog) {
  const testing::ServedModels served(
      Config({absl::StrCat("{ name: m, token: { file: ", TokenFile(), ", out_of_range: { unk: 3 } } }")}));
  const client::Client client = served.InProcessClient();
  EmbedRequest batch = {.model = "m", .ids = {1, 10, 2, 0}, .batch_size = 4, .sequence_length = 1};

  ::testing::internal::CaptureStderr();
  const auto first = client.Embed(batch);
  const auto second = ElementsOf<float>(client.Embed(Row({-1})));
  const std::string log = ::testing::internal::GetCapturedStderr();

  batch.ids[1] = 3;
  EXPECT_EQ(ElementsOf<float>(first), ElementsOf<float>(client.Embed(batch)));
  EXPECT_THAT(first->info().warnings, ElementsAre("1 id was outside [0, 10), read as id 3"));
  EXPECT_EQ(second, ElementsOf<float>(client.Embed(Row({3}))));
  const std::size_t line = log.find("model \"m\": 1 id was outside [0, 10), read as id 3");
  ASSERT_NE(line, std::string::npos) << log;
  EXPECT_EQ(log.find("outside", line + 40), std::string::npos) << log;
  const auto description = client.DescribeModel({.model = "m"});
  EXPECT_EQ(description->out_of_range, client::OutOfRangePolicy::kUnk);
  EXPECT_EQ(description->unk_id, 3);
  EXPECT_EQ(description->out_of_range_ids, 2);
}

TEST_F(ModelOptions, ZerosStandInForIdsOutOfRangeNeverTheLastRow) {
  const auto config = Config({absl::StrCat("{ name: m, token: { file: ", TokenFile(), ", out_of_range: zero } }")});
  const testing::ServedModels served(config);

  for (const testing::Route& route : testing::AllRoutes(config, served)) {
    SCOPED_TRACE(route.name);
    EXPECT_THAT(ElementsOf<float>(route.embed(Row({-1, 9, 10}))), ElementsAre(0, 0, 0, 0, 37, 38, 39, 40, 0, 0, 0, 0));
  }
  EXPECT_EQ(served.InProcessClient().DescribeModel({.model = "m"})->out_of_range, client::OutOfRangePolicy::kZero);
}

// A report of ids outside the vocabulary that were set elsewhere than in a request.
TEST_F(ModelOptions, IdsOfSettingsThatAreNoRowsAreRefusedAtLoad) {
  const std::string file = absl::StrCat("file: ", TokenFile());
  const std::pair<std::string, std::string> faults[] = {
      {absl::StrCat("token: { ", file, " }, padding_idx: 10"), "padding_idx = 10 is outside [0, 10)"},
      {absl::StrCat("token: { ", file, ", out_of_range: { unk: 10 } }"), "out_of_range: unk = 10 is outside [0, 10)"},
      {absl::StrCat("token: { ", file, ", dropout_mask_id: 10 }"), "dropout_mask_id = 10 is outside [0, 10)"},
  };
  for (const auto& [keys, message] : faults) {
    config::ServerConfig config = Config({absl::StrCat("{ name: m, ", keys, " }")});
    config.listen = {"127.0.0.1:0"};
    EXPECT_THAT(app::EmbeddingServer::Start(config), StatusIs(kInvalid, HasSubstr(message)));
  }
}

// A report of a tutorial that joins sines and cosines where the model it explains has them in turns.
TEST_F(ModelOptions, LayoutsOfOneFormulaGiveSumsOfTheirOwn) {
  const std::pair<std::string, std::vector<float>> kGoldens[] = {
      {"interleaved", {0.141120f, -0.989992f, 0.295520f, 0.955336f, 0.029996f, 0.999550f, 0.003000f, 0.999996f}},
      {"half", {0.141120f, 0.295520f, 0.029996f, 0.003000f, -0.989992f, 0.955336f, 0.999550f, 0.999996f}},
      {"tensor2tensor", {0.141120f, 0.138798f, 0.006463f, 0.000300f, -0.989992f, 0.990321f, 0.999979f, 1.0f}},
  };
  const std::string ones = SixteenBits("ones", "BF16", 8, 0x3F80);
  std::vector<std::string> models;
  for (const auto& [layout, row] : kGoldens) {
    models.push_back(absl::StrCat("{ name: ", layout, ", token: { file: ", ones,
                                  " }, position: { sinusoidal: { max_context_length: 4, layout: ", layout, " } } }"));
  }
  const testing::ServedModels served(Config(models));

  for (const auto& [layout, row] : kGoldens) {
    SCOPED_TRACE(layout);
    std::vector<float> expected;
    for (const float value : row) expected.push_back(1 + value);
    EmbedRequest request = Row({0}, layout);
    request.position_offsets = {3};
    EXPECT_THAT(ElementsOf<float>(served.InProcessClient().Embed(request)), Pointwise(FloatNear(1e-6f), expected));
  }
}

// 65504, the largest float16, twice.
TEST_F(ModelOptions, SumBeyondFloat16IsInfiniteUnlessSaturated) {
  const std::string file = SixteenBits("largest", "F16", 19, 0x7BFF);
  const std::string keys = absl::StrCat("token: { file: ", file, " }, position: { learned: { file: ", file, " } } }");
  const auto config = Config({absl::StrCat("{ name: m, ", keys), absl::StrCat("{ name: s, saturate: true, ", keys)});
  const testing::ServedModels served(config);

  for (const testing::Route& route : testing::AllRoutes(config, served)) {
    SCOPED_TRACE(route.name);
    EmbedRequest plain = Row({0});
    EmbedRequest saturated = Row({0}, "s");
    EXPECT_THAT(ElementsOf<float>(route.embed(saturated)), Each(131008.0f)) << "float32 holds it";
    plain.output_type = saturated.output_type = DataType::kFloat16;
    EXPECT_THAT(ElementsOf<std::uint16_t>(route.embed(plain)), Each(0x7C00));
    EXPECT_THAT(ElementsOf<std::uint16_t>(route.embed(saturated)), Each(0x7BFF));
  }
  EXPECT_FALSE(served.InProcessClient().DescribeModel({.model = "m"})->saturate);
  EXPECT_TRUE(served.InProcessClient().DescribeModel({.model = "s"})->saturate);
}

TEST_F(ModelOptions, LengthsOfRaggedRowsAreEchoedAndTheRestIsZero) {
  const testing::ServedModels served(Config({absl::StrCat("{ name: m, token: { file: ", TokenFile(), " } }")}));
  EmbedRequest request = {.model = "m", .ids = {1, 2, 3, 4, 5, 6, 7, 8}, .row_lengths = {3, 0, 5}};

  const auto padded = served.InProcessClient().Embed(request);
  request.ragged_layout = client::RaggedLayout::kPacked;
  const auto packed = served.InProcessClient().Embed(request);

  const auto rows = ElementsOf<float>(packed);
  EXPECT_THAT(packed->shape(), ElementsAre(8, 4));
  EXPECT_EQ(rows, ElementsOf<float>(served.InProcessClient().Embed(Row({1, 2, 3, 4, 5, 6, 7, 8}))));
  std::vector<float> expected(rows.begin(), rows.begin() + 3 * 4);
  expected.resize((5 + 5) * 4);
  expected.insert(expected.end(), rows.begin() + 3 * 4, rows.end());
  EXPECT_THAT(padded->shape(), ElementsAre(3, 5, 4));
  EXPECT_EQ(ElementsOf<float>(padded), expected);
  EXPECT_THAT(padded->info().row_lengths, ElementsAre(3, 0, 5));
  EXPECT_THAT(packed->info().row_lengths, ElementsAre(3, 0, 5));
  EXPECT_THAT(padded->info().warnings, IsEmpty());
}

}  // namespace
}  // namespace embd

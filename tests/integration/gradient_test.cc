// Gradients of served models, against what naive loops in double make of the models' own vectors.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd {
namespace {

using client::GradientRequest;
using client::Gradients;
using client::InputTensor;
using client::OutputSide;
using client::Part;
using client::TableGradient;
using client::TableKind;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr std::int64_t kV = 23, kD = 19;
using Ids = std::vector<std::int64_t>;
using Rows = std::map<std::int64_t, std::vector<double>>;

// Values in [-1, 1], the same for the same salt.
std::vector<float> Values(std::int64_t count, std::int64_t salt) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 37 + salt) % 101 - 50) / 50.0f);
  return values;
}

std::vector<float> NormWeight() { return Values(kD, 3); }

class Gradient : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const formats::ScratchFolder folder;
    const std::string weight =
        folder.Write("weight.npy", formats::NpyFile(formats::NpyDict("'<f4'", "(19,)"), formats::Raw(NormWeight())));
    config::ServerConfig config;
    const config::SeededRows rows = {.std = 1.0, .seed = 9};
    config::ModelConfig sum = testing::SmallModel("sum", kV, kD, 24);
    sum.token_types = config::TokenTypes{.source = config::SeededTokenTypes{.type_vocab_size = 2, .rows = rows}};
    sum.padding_idx = 0;
    config::ModelConfig bert = sum;
    bert.name = "bert";
    bert.layer_norm = config::LayerNorm{.weight = config::TableFile{.path = weight}, .eps = 1e-12};
    config::ModelConfig sinusoidal = testing::SmallModel("sinusoidal", 10, 4, 0);
    sinusoidal.position = config::SinusoidalPositions{.max_context_length = 8};
    config.models = {testing::SmallModel("lesson", 10, 4, 8), sum, bert, sinusoidal,
                     testing::SmallModel("wide", 3000, 64, 0)};
    config.limits.max_response_bytes = 1 << 20;
    served_ = new testing::ServedModels(config);
    client_ = new client::Client(served_->TcpClient());
  }
  static void TearDownTestSuite() {
    delete client_;
    delete served_;
  }

  static GradientRequest Lesson() {
    return {.model = "lesson",
            .ids = {1, 2},
            .batch_size = 1,
            .sequence_length = 2,
            .output_gradient = InputTensor::FromFloats(Values(8, 0), {1, 2, 4})};
  }

  static GradientRequest Output(const std::string& model, Ids targets, std::int64_t dim) {
    const auto count = static_cast<std::int64_t>(targets.size());
    return {.model = model,
            .output_side = OutputSide{.target_ids = std::move(targets),
                                      .hidden = InputTensor::FromFloats(Values(count * dim, 5), {count, dim})}};
  }

  static testing::ServedModels* served_;
  static client::Client* client_;
};
testing::ServedModels* Gradient::served_ = nullptr;
client::Client* Gradient::client_ = nullptr;

TEST_F(Gradient, TokenEmbeddingGradientOnlyForUsedRows) {
  const auto gradients = client_->Gradient(Lesson());

  ASSERT_THAT(gradients, IsOk());
  ASSERT_THAT(gradients->tables, SizeIs(2));
  const TableGradient& token = gradients->tables[0];
  EXPECT_EQ(token.table, TableKind::kToken);
  EXPECT_EQ(token.table_rows, 10);
  EXPECT_EQ(token.touched_rows, 2);
  EXPECT_THAT(token.row_ids, ElementsAre(1, 2));
  EXPECT_THAT(token.row_norms, Each(Gt(0.0)));
  const auto rows = *token.rows.floats();
  EXPECT_EQ(std::vector<float>(rows.begin(), rows.end()), Values(8, 0));
}

TEST_F(Gradient, SinusoidalHasNoGradient) {
  GradientRequest request = Lesson();
  request.model = "sinusoidal";

  const auto gradients = client_->Gradient(request);

  ASSERT_THAT(gradients, IsOk());
  ASSERT_THAT(gradients->tables, SizeIs(2));
  EXPECT_EQ(gradients->tables[1].table, TableKind::kPosition);
  EXPECT_FALSE(gradients->tables[1].trainable);
  EXPECT_EQ(gradients->tables[1].table_rows, 8);
  EXPECT_EQ(gradients->tables[1].touched_rows, 0);
  EXPECT_THAT(gradients->tables[1].rows.data, IsEmpty());
}

// The gradient of the vector that LayerNorm makes `x` of, with respect to `x`.
std::vector<double> GoBack(std::span<const float> x, std::span<const float> gradient) {
  const std::vector<float> weight = NormWeight();
  const auto count = static_cast<double>(kD);
  double mean = 0, variance = 0, weighted = 0, slope = 0;
  for (const float value : x) mean += static_cast<double>(value) / count;
  for (const float value : x) variance += std::pow(static_cast<double>(value) - mean, 2) / count;
  const double sigma = std::sqrt(variance + 1e-12);
  std::vector<double> result;
  for (std::size_t d = 0; d < x.size(); ++d) {
    result.push_back(static_cast<double>(gradient[d]) * static_cast<double>(weight[d]));
    weighted += result[d] / count;
    slope += result[d] * (static_cast<double>(x[d]) - mean) / sigma / count;
  }
  for (std::size_t d = 0; d < x.size(); ++d) {
    result[d] = (result[d] - weighted - (static_cast<double>(x[d]) - mean) / sigma * slope) / sigma;
  }
  return result;
}

void ExpectRows(const TableGradient& table, const Rows& expected) {
  ASSERT_THAT(table.row_ids, SizeIs(expected.size()));
  const auto rows = *table.rows.floats();
  std::size_t i = 0;
  for (const auto& [id, row] : expected) {
    EXPECT_EQ(table.row_ids[i], id);
    for (std::size_t d = 0; d < row.size(); ++d) {
      EXPECT_NEAR(static_cast<double>(rows[i * row.size() + d]), row[d], 1e-5 * std::max(1.0, std::abs(row[d])))
          << "row " << id << ", column " << d;
    }
    ++i;
  }
}

TEST_F(Gradient, GoesBackThroughLayerNormToAllTables) {
  const Ids ids = {5, 5, 0, 7, 22, 5}, types = {0, 1, 1, 0, 0, 0};
  const std::vector<float> gradient = Values(6 * kD, 11);
  const auto sums =
      client_->Embed({.model = "sum", .ids = ids, .batch_size = 2, .sequence_length = 3, .token_type_ids = types});
  ASSERT_THAT(sums, IsOk());

  const auto gradients = client_->Gradient({.model = "bert",
                                            .ids = ids,
                                            .batch_size = 2,
                                            .sequence_length = 3,
                                            .token_type_ids = types,
                                            .output_gradient = InputTensor::FromFloats(gradient, {2, 3, kD})});

  ASSERT_THAT(gradients, IsOk());
  ASSERT_THAT(gradients->tables, SizeIs(3));
  Rows expected[3];
  const auto x = *sums->As<float>();
  for (std::size_t cell = 0; cell < ids.size(); ++cell) {
    const std::vector<double> back =
        GoBack(x.subspan(cell * kD, kD), std::span<const float>(gradient).subspan(cell * kD, kD));
    const std::int64_t named[] = {ids[cell], static_cast<std::int64_t>(cell % 3), types[cell]};
    for (std::size_t table = 0; table < 3; ++table) {
      if (table == 0 && ids[cell] == 0) continue;  // padding
      std::vector<double>& row = expected[table][named[table]];
      row.resize(kD);
      for (std::size_t d = 0; d < back.size(); ++d) row[d] += back[d];
    }
  }
  for (std::size_t table = 0; table < 3; ++table) ExpectRows(gradients->tables[table], expected[table]);
}

// Large enough that the workers share it.
TEST_F(Gradient, SameRequestHasTheSameBitsEveryTime) {
  Ids ids;
  for (std::int64_t i = 0; i < 4096; ++i) ids.push_back(i * i % 2999);
  const GradientRequest request = {.model = "wide",
                                   .ids = ids,
                                   .batch_size = 64,
                                   .sequence_length = 64,
                                   .output_gradient = InputTensor::FromFloats(Values(4096 * 64, 2), {64, 64, 64})};
  const auto first = client_->Gradient(request);
  ASSERT_THAT(first, IsOk());

  for (int i = 0; i < 5; ++i) EXPECT_EQ(client_->Gradient(request)->tables[0].rows.data, first->tables[0].rows.data);
}

TEST_F(Gradient, OutputSideTouchesEveryRow) {
  constexpr std::int64_t kRows = 3000, kDim = 64;
  const Ids targets = {17, 2999, 17};
  Ids all;
  for (std::int64_t v = 0; v < kRows; ++v) all.push_back(v);
  const auto table =
      client_->Embed({.model = "wide", .ids = all, .batch_size = 1, .sequence_length = kRows, .part = Part::kToken});
  ASSERT_THAT(table, IsOk());
  const auto rows = *table->As<float>();
  const std::vector<float> hidden = Values(3 * kDim, 5);

  const auto gradients = client_->Gradient(Output("wide", targets, kDim));

  ASSERT_THAT(gradients, IsOk());
  double loss = 0;
  std::vector<double> dense(static_cast<std::size_t>(kRows * kDim));
  for (std::size_t n = 0; n < 3; ++n) {
    std::vector<double> scores(kRows);
    double sum = 0;
    for (std::size_t i = 0; i < dense.size(); ++i) {
      scores[i / kDim] += static_cast<double>(rows[i]) * static_cast<double>(hidden[n * kDim + i % kDim]);
    }
    for (const double score : scores) sum += std::exp(score);
    loss += (std::log(sum) - scores[static_cast<std::size_t>(targets[n])]) / 3;
    for (std::size_t i = 0; i < dense.size(); ++i) {
      const bool is_target = static_cast<std::int64_t>(i / kDim) == targets[n];
      dense[i] += (std::exp(scores[i / kDim]) / sum - (is_target ? 1 : 0)) *
                  static_cast<double>(hidden[n * kDim + i % kDim]) / 3;
    }
  }
  EXPECT_NEAR(gradients->loss.value(), loss, 1e-10);
  ASSERT_THAT(gradients->tables, SizeIs(1));
  const TableGradient& token = gradients->tables[0];
  EXPECT_EQ(token.touched_rows, kRows);
  EXPECT_THAT(token.row_ids, IsEmpty());
  ASSERT_THAT(token.row_norms, SizeIs(kRows));
  for (std::size_t v = 0; v < kRows; ++v) {
    double squares = 0;
    for (std::size_t d = 0; d < kDim; ++d) squares += std::pow(dense[v * kDim + d], 2);
    ASSERT_NEAR(token.row_norms[v], std::sqrt(squares), 1e-12);
    ASSERT_GT(token.row_norms[v], 0.0);
  }
}

TEST_F(Gradient, RefusesAGradientThatIsMissingOrOfAnotherType) {
  GradientRequest request = Lesson();
  request.output_gradient->data_type = client::DataType::kFloat16;
  EXPECT_THAT(client_->Gradient(request),
              AllOf(StatusIs(kInvalid, "output_gradient.data_type is float16; allowed is FLOAT32"),
                    ReasonIs("INVALID_OPTION")));
  request.output_gradient = InputTensor::FromFloats(Values(8, 0), {2, 4});
  EXPECT_THAT(client_->Gradient(request), AllOf(StatusIs(kInvalid, HasSubstr("(1, 2, 4)")), ReasonIs("INVALID_SHAPE")));
  request.output_gradient.reset();
  EXPECT_THAT(client_->Gradient(request),
              AllOf(StatusIs(kInvalid, "output_gradient is missing"), ReasonIs("INVALID_SHAPE")));
}

TEST_F(Gradient, RefusesTablesThatAreNotThere) {
  GradientRequest request = Lesson();
  request.tables = {TableKind::kOutput};
  EXPECT_THAT(client_->Gradient(request), ReasonIs("NO_SUCH_TABLE"));
  request.tables = {TableKind::kTokenType};
  EXPECT_THAT(
      client_->Gradient(request),
      AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("\"lesson\"")), ReasonIs("NO_SUCH_TABLE")));
  request.tables = {static_cast<TableKind>(77)};
  EXPECT_THAT(client_->Gradient(request), ReasonIs("UNKNOWN_ENUM_VALUE"));
  request.tables = {TableKind::kPosition};
  request.part = Part::kToken;
  EXPECT_THAT(client_->Gradient(request), ReasonIs("INVALID_OPTION"));
}

TEST_F(Gradient, RefusesWhatEmbedRefuses) {
  GradientRequest request = Lesson();
  request.ids = {1, 10};
  EXPECT_THAT(client_->Gradient(request),
              AllOf(StatusIs(kInvalid, HasSubstr("ids[0][1] = 10")), ReasonIs("ID_OUT_OF_RANGE")));
  request.model = "nobody";
  EXPECT_THAT(client_->Gradient(request), ReasonIs("MODEL_NOT_FOUND"));
}

TEST_F(Gradient, RefusesRowsThatNoReplyHolds) {
  Ids ids;
  for (std::int64_t i = 0; i < 8192; ++i) ids.push_back(i % 3000);
  GradientRequest request = {.model = "wide", .ids = ids, .batch_size = 8, .sequence_length = 1024};
  request.output_gradient = InputTensor::FromFloats(Values(8192 * 64, 2), {8, 1024, 64});
  EXPECT_THAT(client_->Gradient(request), IsOk()) << "the batch's vectors would be too large, its rows are not";

  config::ServerConfig config;
  config.models = {testing::SmallModel("wide", 3000, 64, 0)};
  config.limits.max_response_bytes = 1000;
  const testing::ServedModels small(config);
  EXPECT_THAT(small.TcpClient().Gradient(request), ReasonIs("RESPONSE_TOO_LARGE"));
  EXPECT_THAT(small.TcpClient().Gradient(Output("wide", {1}, 64)), ReasonIs("RESPONSE_TOO_LARGE"));
}

TEST_F(Gradient, OutputSideExcludesABatch) {
  GradientRequest request = Output("lesson", {1}, 4);
  request.ids = {1};
  EXPECT_THAT(client_->Gradient(request),
              AllOf(StatusIs(kInvalid, "output_side and ids exclude each other"), ReasonIs("INVALID_OPTION")));
  request.ids = {};
  request.part = Part::kToken;
  EXPECT_THAT(client_->Gradient(request), StatusIs(kInvalid, HasSubstr("and part exclude")));
  request.part = Part::kComposed;
  request.tables = {TableKind::kPosition};
  EXPECT_THAT(client_->Gradient(request), ReasonIs("INVALID_OPTION"));
}

TEST_F(Gradient, OutputSideRefusesVectorsAndTargets) {
  EXPECT_THAT(client_->Gradient(Output("lesson", {1}, 5)),
              AllOf(StatusIs(kInvalid, HasSubstr("has shape (1, 5), expected (1, 4)")), ReasonIs("INVALID_SHAPE")));
  EXPECT_THAT(client_->Gradient(Output("lesson", {1, 10}, 4)), ReasonIs("ID_OUT_OF_RANGE"));
  GradientRequest request = Output("lesson", {1}, 4);
  request.output_side->hidden.bytes.pop_back();
  EXPECT_THAT(
      client_->Gradient(request),
      AllOf(StatusIs(kInvalid, HasSubstr("has 15 bytes, but (1, 4) FLOAT32 needs 16")), ReasonIs("INVALID_SHAPE")));
}

}  // namespace
}  // namespace embd

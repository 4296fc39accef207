#include "server/core/engine/gradient_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"
#include "tests/unit/core/gradient_golden.h"

namespace embd::core {
namespace {

using ::embd::testing::MakeFloatTable;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr EmbedLimits kLimits = {.max_batch_size = 64, .max_sequence_length = 64, .max_response_bytes = 1 << 20};
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;
using Ids = std::vector<std::int64_t>;

ModelTable Golden(std::int64_t salt, std::int64_t rows, std::int64_t dim) {
  return ModelTable::Of(MakeFloatTable(rows, dim, GoldenValues(salt, rows * dim)), "test", true);
}

// The model of the golden cases that have no more.
ModelParts Tokens(std::int64_t dim) { return {.name = "m", .token = Golden(1, 9, dim)}; }

ModelParts Learned(std::int64_t dim) {
  ModelParts parts = Tokens(dim);
  parts.position = Golden(3, 8, dim);
  parts.position_encoding = PositionEncoding::kLearned;
  return parts;
}

ModelParts Bert(std::int64_t dim) {
  ModelParts parts = Learned(dim);
  parts.token_types = TokenTypes{.table = Golden(2, 2, dim)};
  parts.layer_norm = ModelLayerNorm{
      .parameters = {.weight = GoldenValues(4, dim), .bias = GoldenValues(5, dim), .eps = 1e-12}, .source = "test"};
  parts.padding_idx = 0;
  return parts;
}

ModelParts Roberta(std::int64_t dim) {
  ModelParts parts = Bert(dim);
  parts.padding_idx = 1;
  parts.numbering = Numbering::kPadding;
  return parts;
}

EmbedInput Batch(std::int64_t batch, std::int64_t tokens, Ids ids) {
  return {.batch_size = batch, .sequence_length = tokens, .ids = std::move(ids)};
}

absl::StatusOr<GradientPlan> Plan(ModelParts parts, EmbedInput batch, std::vector<std::int64_t> shape,
                                  std::vector<TableRole> tables = {}, const EmbedLimits& limits = kLimits) {
  auto model = Model::Create(std::move(parts));
  if (!model.ok()) return model.status();
  std::size_t bytes = sizeof(float);
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  return GradientPlan::Create(
      *model,
      {.batch = std::move(batch), .gradient_shape = std::move(shape), .gradient_bytes = bytes, .tables = tables},
      limits);
}

// The gradient of one table.
struct Result {
  TableRole role = TableRole::kToken;
  Ids row_ids;
  Ids counts;
  std::vector<float> rows;
  std::vector<double> norms;
};

std::vector<Result> RunPlan(const GradientPlan& plan, std::span<const float> output_gradient,
                            ShareOut share = OneThread) {
  std::vector<Result> results;
  for (const TableGradient& table : plan.tables()) {
    const Ids& rows = table.mentions.rows();
    results.push_back({.role = table.role,
                       .row_ids = rows,
                       .counts = table.mentions.cell_counts(),
                       .rows = std::vector<float>(rows.size() * static_cast<std::size_t>(table.table->dim()), -1.0f),
                       .norms = std::vector<double>(rows.size())});
  }
  std::vector<GradientPlan::Destination> destinations;
  for (Result& result : results) destinations.push_back({.rows = result.rows, .norms = result.norms});
  EXPECT_TRUE(plan.Run(output_gradient, destinations, share).ok());
  return results;
}

std::vector<Result> Gradients(ModelParts parts, EmbedInput batch, std::vector<std::int64_t> shape,
                              const std::vector<float>& output_gradient) {
  const auto plan = Plan(std::move(parts), std::move(batch), std::move(shape));
  if (!plan.ok()) ADD_FAILURE() << plan.status();
  return plan.ok() ? RunPlan(*plan, output_gradient) : std::vector<Result>{};
}

std::string NameOf(TableRole role) {
  if (role == TableRole::kToken) return "token";
  return role == TableRole::kPosition ? "position" : "token_type";
}

void ExpectGolden(const Result& result, const GradientGolden& golden, double tolerance) {
  const auto dim = static_cast<std::size_t>(golden.columns);
  std::vector<double> dense(golden.elements.size());
  for (std::size_t i = 0; i < result.row_ids.size(); ++i) {
    double squares = 0;
    for (std::size_t d = 0; d < dim; ++d) {
      const auto element = static_cast<double>(result.rows[i * dim + d]);
      dense[static_cast<std::size_t>(result.row_ids[i]) * dim + d] = element;
      squares += element * element;
    }
    EXPECT_NEAR(result.norms[i], std::sqrt(squares), 1e-12 * result.norms[i]);
  }
  for (std::size_t i = 0; i < dense.size(); ++i) {
    EXPECT_NEAR(dense[i], golden.elements[i], tolerance * std::max(1.0, std::abs(golden.elements[i])))
        << "element " << i;
  }
}

struct GoldenCase {
  std::string name;
  std::int64_t dim = 0;
  ModelParts parts;
  EmbedInput batch;
  double tolerance = 0;  // of an element, or relative to it beyond 1
  std::size_t tables = 0;
};

// Sums are the same float32 operations in the same order; LayerNorm's backward is float32 in torch.
std::vector<GoldenCase> GoldenCases() {
  const Ids ids = {1, 5, 5, 0, 5, 2, 0, 0};
  std::vector<GoldenCase> cases;
  cases.push_back({"duplicates", 17, Tokens(17), Batch(2, 4, {3, 3, 3, 1, 8, 3, 1, 0}), 0.0, 1});
  cases.push_back({"scaled", 20, Tokens(20), Batch(2, 4, ids), 0.0, 1});
  cases.back().parts.token_scale = std::sqrt(20.0f);
  cases.push_back({"learned", 6, Learned(6), Batch(2, 4, ids), 0.0, 2});
  cases.push_back({"bert", 20, Bert(20), Batch(2, 4, ids), 1e-5, 3});
  cases.back().batch.token_type_ids = {0, 0, 1, 1, 0, 1, 1, 1};
  cases.push_back({"roberta", 20, Roberta(20), Batch(2, 4, {1, 5, 5, 6, 5, 2, 1, 1}), 1e-5, 3});
  return cases;
}

TEST(GradientPlan, EqualsAutograd) {
  const auto golden = ReadGradientGolden();
  for (GoldenCase& each : GoldenCases()) {
    const auto results = Gradients(std::move(each.parts), each.batch, {2, 4, each.dim}, GoldenValues(6, 8 * each.dim));
    ASSERT_THAT(results, SizeIs(each.tables)) << each.name;
    for (const Result& result : results) {
      SCOPED_TRACE(absl::StrCat(each.name, " ", NameOf(result.role)));
      ExpectGolden(result, golden.at({each.name, NameOf(result.role)}), each.tolerance);
    }
  }
}

TEST(GradientPlan, HasOnlyRowsThatCellsNameAscendingAndCounted) {
  const auto results = Gradients(Learned(1), Batch(2, 2, {7, 2, 7, 7}), {2, 2, 1}, {1, 2, 4, 8});

  ASSERT_THAT(results, SizeIs(2));
  EXPECT_THAT(results[0].row_ids, ElementsAre(2, 7));
  EXPECT_THAT(results[0].counts, ElementsAre(1, 3));
  EXPECT_THAT(results[0].rows, ElementsAre(2, 13));
  EXPECT_THAT(results[1].row_ids, ElementsAre(0, 1));
  EXPECT_THAT(results[1].counts, ElementsAre(2, 2));
  EXPECT_THAT(results[1].rows, ElementsAre(5, 10));
}

// In float32, 2^24 + 1 is 2^24: only the order of cells gives this sum.
TEST(GradientPlan, AddsCellsInRowMajorOrder) {
  const auto results = Gradients(Tokens(1), Batch(2, 2, {4, 4, 4, 4}), {2, 2, 1}, {1, 0x1p24f, -0x1p24f, 1});

  EXPECT_THAT(results[0].rows, ElementsAre(1));
}

TEST(GradientPlan, PaddingGivesNone) {
  ModelParts parts = Tokens(1);
  parts.padding_idx = 3;

  const auto results = Gradients(std::move(parts), Batch(1, 3, {3, 4, 3}), {1, 3, 1}, {1, 2, 4});

  EXPECT_THAT(results[0].row_ids, ElementsAre(4));
}

TEST(GradientPlan, ComputedPositionsDoNotLearn) {
  ModelParts parts = Learned(2);
  parts.position->trainable = false;

  const auto results = Gradients(std::move(parts), Batch(1, 1, {1}), {1, 1, 2}, {1, 2});

  ASSERT_THAT(results, SizeIs(2));
  EXPECT_THAT(results[1].row_ids, IsEmpty());
}

TEST(GradientPlan, TypesInTheTokenTableAddToItUnscaled) {
  ModelParts parts = Tokens(1);
  parts.token_types = TokenTypes{.table = std::nullopt, .only_when_sent = true};
  parts.token_scale = 10.0f;
  EmbedInput batch = Batch(1, 2, {5, 6});
  batch.token_type_ids = {5, 5};

  const auto results = Gradients(std::move(parts), batch, {1, 2, 1}, {1, 2});

  ASSERT_THAT(results, SizeIs(1));
  EXPECT_THAT(results[0].row_ids, ElementsAre(5, 6));
  EXPECT_THAT(results[0].counts, ElementsAre(2, 1));
  EXPECT_THAT(results[0].rows, ElementsAre(10 + 1 + 2, 20));
}

TEST(GradientPlan, MaskedCellsThatAreZeroGiveNone) {
  ModelParts parts = Bert(2);
  parts.zero_masked = true;
  EmbedInput batch = Batch(1, 2, {5, 6});
  batch.attention_mask = {1, 0};

  const auto results = Gradients(std::move(parts), batch, {1, 2, 2}, {1, 2, 3, std::numeric_limits<float>::infinity()});

  ASSERT_THAT(results, SizeIs(3));
  EXPECT_THAT(results[0].row_ids, ElementsAre(5));
  EXPECT_THAT(results[2].counts, ElementsAre(1));
}

// <mask> reads no row; the other rows of its batch row are multiplied by 0.88 / (1 - 1/4).
TEST(GradientPlan, TokenDropoutScalesGradientsAsItScalesRows) {
  ModelParts parts = Tokens(1);
  parts.dropout_mask_id = 8;

  const auto results = Gradients(std::move(parts), Batch(1, 4, {8, 1, 2, 1}), {1, 4, 1}, {1, 3, 6, 9});

  constexpr auto kKept = static_cast<float>(1 - 0.15 * 0.8);
  EXPECT_THAT(results[0].row_ids, ElementsAre(1, 2));
  EXPECT_THAT(results[0].rows, ElementsAre(3 / 0.75f * kKept + 9 / 0.75f * kKept, 6 / 0.75f * kKept));
}

TEST(GradientPlan, RaggedRowsHaveAGradientACell) {
  EmbedInput batch = {.ids = {1, 2, 1}, .row_lengths = {2, 0, 1}};

  const auto results = Gradients(Learned(1), batch, {3, 1}, {1, 2, 4});

  EXPECT_THAT(results[0].rows, ElementsAre(5, 2));
  EXPECT_THAT(results[1].rows, ElementsAre(5, 2));
}

TEST(GradientPlan, PartsHaveTheirOwnTablesWithoutLayerNorm) {
  EmbedInput token = Batch(1, 2, {4, 4});
  token.part = Part::kToken;
  EmbedInput position = Batch(1, 2, {});
  position.part = Part::kPosition;

  const auto of_tokens = Gradients(Bert(2), token, {1, 2, 2}, {1, 2, 3, 4});
  const auto of_positions = Gradients(Bert(2), position, {1, 2, 2}, {1, 2, 3, 4});

  ASSERT_THAT(of_tokens, SizeIs(1));
  EXPECT_THAT(of_tokens[0].rows, ElementsAre(4, 6));
  ASSERT_THAT(of_positions, SizeIs(1));
  EXPECT_EQ(of_positions[0].role, TableRole::kPosition);
  EXPECT_THAT(of_positions[0].rows, ElementsAre(1, 2, 3, 4));
}

TEST(GradientPlan, TablesComeInTheOrderAskedFor) {
  const auto plan = Plan(Bert(2), Batch(1, 1, {1}), {1, 1, 2}, {TableRole::kTokenType, TableRole::kToken});

  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->tables(), SizeIs(2));
  EXPECT_EQ(plan->tables()[0].role, TableRole::kTokenType);
  EXPECT_EQ(plan->tables()[1].role, TableRole::kToken);
}

TEST(GradientPlan, EmptyBatchTouchesNothing) {
  const auto results = Gradients(Bert(2), Batch(0, 3, {}), {0, 3, 2}, {});

  ASSERT_THAT(results, SizeIs(3));
  for (const Result& result : results) EXPECT_THAT(result.row_ids, IsEmpty());
}

// Each piece on a thread of its own, the last first.
absl::Status ManyThreads(std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
  std::vector<std::thread> threads;
  for (std::int64_t i = count; i-- > 0;) threads.emplace_back([&piece, i] { piece(i); });
  for (std::thread& thread : threads) thread.join();
  return absl::OkStatus();
}

TEST(GradientPlan, ThreadsChangeNoBit) {
  constexpr std::int64_t kDim = 15000;  // more than one piece of cells and of rows
  EmbedInput batch = Batch(8, 4, {});
  for (std::int64_t i = 0; i < 32; ++i) batch.ids.push_back(i * i % 9);
  const auto plan = Plan(Bert(kDim), batch, {8, 4, kDim});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<float> gradient = GoldenValues(9, 32 * kDim);

  const auto one = RunPlan(*plan, gradient);
  const auto many = RunPlan(*plan, gradient, ManyThreads);

  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].rows, many[i].rows);
    EXPECT_EQ(one[i].norms, many[i].norms);
  }
}

TEST(GradientPlan, RefusesTablesThatThePartOrTheModelHasNot) {
  EmbedInput token = Batch(1, 1, {1});
  token.part = Part::kToken;
  EXPECT_THAT(Plan(Bert(2), token, {1, 1, 2}, {TableRole::kToken, TableRole::kPosition}),
              AllOf(StatusIs(kInvalid, "tables[1] = POSITION is not read by part TOKEN"), ReasonIs("INVALID_OPTION")));
  EXPECT_THAT(Plan(Bert(2), Batch(1, 1, {1}), {1, 1, 2}, {TableRole::kToken, TableRole::kToken}),
              AllOf(StatusIs(kInvalid, HasSubstr("more than once")), ReasonIs("INVALID_OPTION")));
  EXPECT_THAT(
      Plan(Tokens(2), Batch(1, 1, {1}), {1, 1, 2}, {TableRole::kPosition}),
      AllOf(StatusIs(kPrecondition, "tables[0] = POSITION: model \"m\" has no such table"), ReasonIs("NO_SUCH_TABLE")));
  ModelParts shared = Tokens(2);
  shared.token_types = TokenTypes{.table = std::nullopt};
  EXPECT_THAT(Plan(std::move(shared), Batch(1, 1, {1}), {1, 1, 2}, {TableRole::kTokenType}),
              AllOf(StatusIs(kPrecondition, HasSubstr("ask for TOKEN")), ReasonIs("NO_SUCH_TABLE")));
}

TEST(GradientPlan, RefusesAGradientOfAnotherShapeThanTheOutput) {
  EXPECT_THAT(Plan(Tokens(2), Batch(1, 1, {1}), {1, 2}),
              AllOf(StatusIs(kInvalid, "output_gradient has shape (1, 2), but that of the output is (1, 1, 2)"),
                    ReasonIs("INVALID_SHAPE")));
  const auto model = Model::Create(Tokens(2)).value();
  EXPECT_THAT(GradientPlan::Create(model, {.batch = Batch(1, 1, {1}), .gradient_shape = {1, 1, 2}, .gradient_bytes = 7},
                                   kLimits),
              AllOf(StatusIs(kInvalid, "output_gradient has 7 bytes, but (1, 1, 2) FLOAT32 needs 8"),
                    ReasonIs("INVALID_SHAPE")));
}

TEST(GradientPlan, RefusesRowsBeyondTheLimitOfReplies) {
  const EmbedLimits limits = {.max_batch_size = 8, .max_sequence_length = 8, .max_response_bytes = 67};

  EXPECT_TRUE(Plan(Tokens(2), Batch(1, 2, {1, 1}), {1, 2, 2}, {}, limits).ok());
  EXPECT_THAT(Plan(Tokens(2), Batch(1, 2, {1, 2}), {1, 2, 2}, {}, limits),
              AllOf(StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("max_response_bytes 67")),
                    ReasonIs("RESPONSE_TOO_LARGE")));
}

}  // namespace
}  // namespace embd::core

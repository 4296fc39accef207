#include "server/app/table_budget.h"

#include <utility>

#include "gmock/gmock.h"
#include "server/app/model_builder.h"
#include "tests/support/status_matchers.h"

namespace embd::app {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;

constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

// (vocab_size, 4) seeded tokens with sinusoidal positions of as many rows.
config::ModelConfig Model(const std::string& name, std::int64_t rows) {
  return {.name = name,
          .token = config::SeededTokens{.vocab_size = rows, .embedding_dim = 4},
          .position = config::SinusoidalPositions{.max_context_length = rows}};
}

TEST(TableBudget, TablesThatFillItExactlyFit) {
  TableShare share = TableBudget(100).Open();

  EXPECT_THAT(share.Add(60), IsOk());
  EXPECT_THAT(share.Add(40), IsOk());
  EXPECT_THAT(share.Add(1), ReasonIs("OUT_OF_MEMORY"));
}

TEST(TableBudget, TableThatIsRefusedIsNotCounted) {
  TableShare share = TableBudget(100).Open();

  EXPECT_THAT(share.Add(101), StatusIs(kExhausted,
                                       "its table needs 101 bytes and those that are there take 0; tables of this "
                                       "process may take 100"));
  EXPECT_THAT(share.Add(100), IsOk());
}

TEST(TableBudget, ShareThatEndsGivesBackWhatItTook) {
  const TableBudget budget(100);
  TableShare other = budget.Open();
  ASSERT_THAT(other.Add(10), IsOk());
  {
    TableShare share = budget.Open();
    ASSERT_THAT(share.Add(60), IsOk());
    EXPECT_THAT(other.Add(31), ReasonIs("OUT_OF_MEMORY"));
    const TableShare moved = std::move(share);
    EXPECT_EQ(budget.taken(), 70);
  }

  EXPECT_EQ(budget.taken(), 10);
}

TEST(TableBudget, TellsOnceThatAShareHasEnded) {
  const TableBudget budget(100);
  { const TableShare share = budget.Open(); }

  EXPECT_TRUE(budget.TakeEnded());
  EXPECT_FALSE(budget.TakeEnded());
}

TEST(TableBudget, SeededAndComputedTablesOfAllModelsCountTogether) {
  TableBudget budget(2 * 10 * 16 + 2 * 10 * 16 - 1);

  ASSERT_OK_AND_ASSIGN(const BuiltModel first, BuildModel(Model("first", 10), &budget));
  EXPECT_THAT(BuildModel(Model("second", 10), &budget),
              AllOf(StatusIs(kExhausted,
                             "model \"second\": its table needs 160 bytes and those that are there take 480; "
                             "tables of this process may take 639"),
                    ReasonIs("OUT_OF_MEMORY")));
  EXPECT_EQ(budget.taken(), 320) << "what failed has given its share back";
}

TEST(TableBudget, TableThatCannotFitIsRefusedBeforeItIsMade) {
  TableBudget budget(std::int64_t{1} << 30);

  EXPECT_THAT(BuildModel({.name = "vast", .token = config::SeededTokens{268435456, 1024}}, &budget),
              ReasonIs("OUT_OF_MEMORY"));
}

}  // namespace
}  // namespace embd::app

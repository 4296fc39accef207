#include "server/app/table_budget.h"

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
  TableBudget budget(100);

  EXPECT_THAT(budget.Add(60), IsOk());
  EXPECT_THAT(budget.Add(40), IsOk());
  EXPECT_THAT(budget.Add(1), ReasonIs("OUT_OF_MEMORY"));
}

TEST(TableBudget, TableThatIsRefusedIsNotCounted) {
  TableBudget budget(100);

  EXPECT_THAT(budget.Add(101), StatusIs(kExhausted,
                                        "its table needs 101 bytes and those before it take 0; this "
                                        "process may use 100"));
  EXPECT_THAT(budget.Add(100), IsOk());
}

TEST(TableBudget, SeededAndComputedTablesOfAllModelsCountTogether) {
  TableBudget budget(2 * 10 * 16 + 2 * 10 * 16 - 1);

  EXPECT_THAT(BuildModel(Model("first", 10), &budget), IsOk());
  EXPECT_THAT(BuildModel(Model("second", 10), &budget),
              AllOf(StatusIs(kExhausted,
                             "model \"second\": its table needs 160 bytes and those before it take 480; this "
                             "process may use 639"),
                    ReasonIs("OUT_OF_MEMORY")));
}

TEST(TableBudget, TableThatCannotFitIsRefusedBeforeItIsMade) {
  TableBudget budget(std::int64_t{1} << 30);

  EXPECT_THAT(BuildModel({.name = "vast", .token = config::SeededTokens{268435456, 1024}}, &budget),
              ReasonIs("OUT_OF_MEMORY"));
}

}  // namespace
}  // namespace embd::app

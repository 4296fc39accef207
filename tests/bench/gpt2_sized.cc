#include "tests/bench/gpt2_sized.h"

#include "server/app/memory_limit.h"
#include "server/app/model_builder.h"
#include "server/app/table_budget.h"
#include "tests/support/served_models.h"

namespace embd::bench {

std::shared_ptr<const core::Model> Gpt2Sized() {
  app::TableBudget budget(app::MemoryLimit());
  return app::BuildModel(testing::SmallModel(kModelName, kVocab, kDim, kLength), &budget).value().model;
}

}  // namespace embd::bench

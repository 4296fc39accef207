#ifndef EMBD_SERVER_APP_MODEL_BUILDER_H_
#define EMBD_SERVER_APP_MODEL_BUILDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/app/table_budget.h"
#include "server/config/server_config.h"
#include "server/core/engine/model.h"

namespace embd::app {

/// A model, and what its owner should know although it loaded.
struct BuiltModel {
  std::shared_ptr<const core::Model> model;
  std::vector<std::string> warnings;
};

/// Loads or computes the tables that the configuration describes. They count in `budget` from before they are made
/// until the model's last owner has gone.
///
/// Errors: those of SpellOut, formats::LoadTable, core::SeededTable, core::SinusoidalTable, core::Model::Create and
/// TableShare::Add, and
///   RESOURCE_EXHAUSTED  [OUT_OF_MEMORY] what is needed beside the tables finds no memory.
/// Each message begins with the model's name.
[[nodiscard]] absl::StatusOr<BuiltModel> BuildModel(const config::ModelConfig& config, TableBudget* budget,
                                                    std::int64_t generation = 1);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_MODEL_BUILDER_H_

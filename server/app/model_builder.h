#ifndef EMBD_SERVER_APP_MODEL_BUILDER_H_
#define EMBD_SERVER_APP_MODEL_BUILDER_H_

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

/// Loads or computes the tables that the configuration describes.
///
/// Errors: those of SpellOut, formats::LoadTable, core::SeededTable, core::SinusoidalTable, core::Model::Create and
/// TableBudget::Add, which is asked before a table is computed and after one is loaded; each message begins with the
/// model's name.
[[nodiscard]] absl::StatusOr<BuiltModel> BuildModel(const config::ModelConfig& config, TableBudget* budget);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_MODEL_BUILDER_H_

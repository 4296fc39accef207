#ifndef EMBD_SERVER_APP_SPELL_OUT_H_
#define EMBD_SERVER_APP_SPELL_OUT_H_

#include "absl/status/statusor.h"
#include "server/architectures/infer_model.h"
#include "server/config/server_config.h"

namespace embd::app {

/// The model of a configuration with all that its `path` tells: a model folder is inferred from, a file holds its
/// tables, and without a path it is the configuration itself.
///
/// Errors: those of architectures::InferModel and SpellOutFile.
[[nodiscard]] absl::StatusOr<architectures::InferredModel> SpellOut(const config::ModelConfig& given);

/// The model of a `path` that is a file of tables: the tables that are given without a file of their own are this
/// file's, the token table first of all. Nothing is inferred.
///
/// Errors:
///   INVALID_ARGUMENT  [INVALID_CONFIG] something is left unset that only a model folder could tell; names the key.
[[nodiscard]] absl::StatusOr<config::ModelConfig> SpellOutFile(config::ModelConfig given);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_SPELL_OUT_H_

#ifndef EMBD_SERVER_APP_SPELL_OUT_H_
#define EMBD_SERVER_APP_SPELL_OUT_H_

#include "absl/status/statusor.h"
#include "server/config/server_config.h"

namespace embd::app {

/// The model of a `path` that is a file of tables: the tables that are given without a file of their own are this
/// file's, the token table first of all. Nothing is inferred.
///
/// Errors:
///   INVALID_ARGUMENT  [INVALID_CONFIG] something is left unset that only a model folder could tell; names the key.
[[nodiscard]] absl::StatusOr<config::ModelConfig> SpellOutFile(config::ModelConfig given);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_SPELL_OUT_H_

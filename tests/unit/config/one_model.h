#ifndef EMBD_TESTS_UNIT_CONFIG_ONE_MODEL_H_
#define EMBD_TESTS_UNIT_CONFIG_ONE_MODEL_H_

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/config/load.h"

namespace embd::config {

/// The one model of a file "c/e.yaml" that holds, on its first line, a model of name "m" with these keys.
inline absl::StatusOr<ModelConfig> ParseOneModel(absl::string_view keys) {
  auto config = ParseYaml(absl::StrCat("models: [{ name: m, ", keys, " }]"), "c/e.yaml");
  if (!config.ok()) return config.status();
  return config->models.at(0);
}

}  // namespace embd::config

#endif  // EMBD_TESTS_UNIT_CONFIG_ONE_MODEL_H_

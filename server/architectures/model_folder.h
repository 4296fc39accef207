#ifndef EMBD_SERVER_ARCHITECTURES_MODEL_FOLDER_H_
#define EMBD_SERVER_ARCHITECTURES_MODEL_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"

namespace embd::architectures {

/// The folder that holds config.json and weights: `folder` itself, or the one that its `modules.json` names for the
/// transformer, as sentence-transformers lays models out.
///
/// Errors: those of ReadJsonFile, but for a modules.json that is not there, and
///   INVALID_ARGUMENT  [INVALID_FILE] modules.json is no list of modules, or names a folder that could lead elsewhere.
///   UNIMPLEMENTED     [UNSUPPORTED_ARCHITECTURE] its first module is no transformer; names the type.
[[nodiscard]] absl::StatusOr<std::string> TransformerFolder(const std::string& folder);

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_MODEL_FOLDER_H_

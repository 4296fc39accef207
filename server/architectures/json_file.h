#ifndef EMBD_SERVER_ARCHITECTURES_JSON_FILE_H_
#define EMBD_SERVER_ARCHITECTURES_JSON_FILE_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"

namespace embd::architectures {

/// Reads a JSON file such as config.json: at most 4 MiB, nested at most 64 deep. Of a key that stands twice the last
/// one counts, as in the libraries that write these files.
///
/// Errors (each message begins with the path):
///   NOT_FOUND           [FILE_NOT_FOUND] it cannot be opened; with the system's reason.
///   INVALID_ARGUMENT    [INVALID_FILE] not JSON, with the byte; too large or too deep.
///   RESOURCE_EXHAUSTED  [OUT_OF_MEMORY] not enough memory.
[[nodiscard]] absl::StatusOr<nlohmann::json> ReadJsonFile(const std::string& path);

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_JSON_FILE_H_

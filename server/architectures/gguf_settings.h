#ifndef EMBD_SERVER_ARCHITECTURES_GGUF_SETTINGS_H_
#define EMBD_SERVER_ARCHITECTURES_GGUF_SETTINGS_H_

#include <nlohmann/json.hpp>

#include "absl/strings/string_view.h"
#include "server/formats/gguf_metadata.h"

namespace embd::architectures {

/// The values of a GGUF file's metadata whose keys begin with `prefix`, without it, as an object that `Settings` reads.
/// Arrays become lists; what the reader of the file passed over is left out.
[[nodiscard]] nlohmann::json GgufObject(const formats::GgufMetadata& metadata, absl::string_view prefix);

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_GGUF_SETTINGS_H_

#ifndef EMBD_SERVER_FORMATS_CHECKPOINT_INDEX_H_
#define EMBD_SERVER_FORMATS_CHECKPOINT_INDEX_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/formats/file_reader.h"

namespace embd::formats {

/// Where a checkpoint of several files keeps one tensor.
struct IndexEntry {
  std::string tensor;
  std::string file;  ///< a name without any folder, ending in .safetensors
};

/// Reads a `model.safetensors.index.json`: the entries of its `weight_map`, sorted by tensor. `metadata` and other keys
/// are passed over, whatever they say.
///
/// Cost: time and memory in proportion to the file, which has at most 64 MiB.
/// Errors: those of `FileReader::ReadAt` and `ParseJson`, and
///   INVALID_ARGUMENT  [INVALID_FILE] no `weight_map`, an entry that is no string, a tensor or `weight_map` twice, a
///   file
///                     name that could lead out of the folder, or more than 64 MiB.
///   UNIMPLEMENTED     [UNSUPPORTED_FORMAT] an entry names a file that is not .safetensors.
[[nodiscard]] absl::StatusOr<std::vector<IndexEntry>> ReadCheckpointIndex(const FileReader& file);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_CHECKPOINT_INDEX_H_

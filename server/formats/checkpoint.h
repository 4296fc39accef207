#ifndef EMBD_SERVER_FORMATS_CHECKPOINT_H_
#define EMBD_SERVER_FORMATS_CHECKPOINT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/checkpoint_index.h"

namespace embd::formats {

/// A tensor of a checkpoint, as the file that holds it describes it.
struct CheckpointTensor {
  std::string path;                 ///< of the file that holds it, for LoadTable and LoadVector
  std::string dtype;                ///< as it stands in the file, e.g. "BF16"
  std::vector<std::int64_t> shape;  ///< outermost first
};

/// The weights of a model folder as Hugging Face lays it out: `model.safetensors`; without it, the files that
/// `model.safetensors.index.json` names; without that, the only .safetensors file there is.
///
/// Files may be symbolic links, as in a download cache; names in an index may not lead out of the folder.
/// Thread safety: never changes after `Open`, so any number of threads may use it. Holds no file open.
class Checkpoint {
 public:
  /// Reads which tensors there are: the header of the single file, or the index and no other file.
  ///
  /// Errors (each message begins with the path):
  ///   NOT_FOUND         [FILE_NOT_FOUND] no such folder, or it holds no weights.
  ///   UNIMPLEMENTED     [UNSUPPORTED_FORMAT] the folder holds weights of other formats only (.bin, .pt, .pth, .ckpt,
  ///                     .h5, .msgpack), or the index names such a file.
  ///   INVALID_ARGUMENT  [INVALID_FILE] the path is no folder; the header or index breaks the format's rules; several
  ///                     .safetensors files without an index.
  ///   RESOURCE_EXHAUSTED  [OUT_OF_MEMORY] not enough memory.
  [[nodiscard]] static absl::StatusOr<Checkpoint> Open(const std::string& folder);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// How many tensors there are.
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// Whether there is such a tensor. Cost: a binary search; opens nothing.
  [[nodiscard]] bool Has(absl::string_view tensor) const;
  /// All names, sorted.
  [[nodiscard]] std::vector<std::string> Names() const;
  /// The first ten names and how many there are in all, for messages: `"a", "b", … (148 in all)`.
  [[nodiscard]] std::string ListNames() const;

  /// Opens the file that holds the tensor, and no other, and reads its header.
  ///
  /// Errors (each message begins with a path):
  ///   NOT_FOUND         [FILE_NOT_FOUND] the file is missing; names tensor and file.
  ///   INVALID_ARGUMENT  [TENSOR_NOT_FOUND] no such tensor; lists up to ten names.
  ///   INVALID_ARGUMENT  [INVALID_FILE] the file breaks the format's rules, or has not the tensor that the index says
  ///   it
  ///                     has.
  ///   UNIMPLEMENTED     [UNSUPPORTED_FORMAT] the tensor has more than six dimensions.
  ///   RESOURCE_EXHAUSTED  [OUT_OF_MEMORY] not enough memory.
  [[nodiscard]] absl::StatusOr<CheckpointTensor> Find(absl::string_view tensor) const;

 private:
  Checkpoint(std::string folder, std::vector<IndexEntry> entries)
      : folder_(std::move(folder)), entries_(std::move(entries)) {}

  [[nodiscard]] const IndexEntry* Entry(absl::string_view tensor) const;

  std::string folder_;
  std::vector<IndexEntry> entries_;  // sorted by tensor
};

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_CHECKPOINT_H_

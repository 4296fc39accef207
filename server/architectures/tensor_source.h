#ifndef EMBD_SERVER_ARCHITECTURES_TENSOR_SOURCE_H_
#define EMBD_SERVER_ARCHITECTURES_TENSOR_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace embd::architectures {

/// A tensor that was chosen.
struct ChosenTensor {
  std::string name;
  std::string path;                 ///< of the file that holds it
  std::vector<std::int64_t> shape;  ///< outermost first
};

/// Where a model's tensors are: a folder of .safetensors files, or a .gguf file.
///
/// Thread safety: any number of threads may use one.
class TensorSource {
 public:
  TensorSource() = default;
  TensorSource(const TensorSource&) = delete;
  TensorSource& operator=(const TensorSource&) = delete;
  virtual ~TensorSource() = default;

  /// Folder or file, the beginning of messages.
  [[nodiscard]] virtual const std::string& path() const = 0;
  [[nodiscard]] virtual bool Has(absl::string_view name) const = 0;
  /// Errors: INVALID_ARGUMENT [TENSOR_NOT_FOUND] no such tensor; those of reading the file that holds it.
  [[nodiscard]] virtual absl::StatusOr<ChosenTensor> Find(const std::string& name) const = 0;
  /// Whether two tensors have the same type, shape and bytes. Errors: those of reading their files.
  [[nodiscard]] virtual absl::StatusOr<bool> Same(const ChosenTensor& a, const ChosenTensor& b) const = 0;
  /// The first ten names and how many there are, for messages.
  [[nodiscard]] virtual std::string ListNames() const = 0;
};

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_TENSOR_SOURCE_H_

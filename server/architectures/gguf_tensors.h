#ifndef EMBD_SERVER_ARCHITECTURES_GGUF_TENSORS_H_
#define EMBD_SERVER_ARCHITECTURES_GGUF_TENSORS_H_

#include <string>
#include <utility>

#include "server/architectures/tensor_source.h"
#include "server/formats/gguf_file.h"

namespace embd::architectures {

/// The tensors of a GGUF file.
class GgufTensors final : public TensorSource {
 public:
  GgufTensors(std::string path, formats::GgufFile file) : path_(std::move(path)), file_(std::move(file)) {}

  [[nodiscard]] const formats::GgufMetadata& metadata() const { return file_.metadata; }

  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] bool Has(absl::string_view name) const override { return file_.Find(name) != nullptr; }
  [[nodiscard]] absl::StatusOr<ChosenTensor> Find(const std::string& name) const override;
  /// Two names are two tensors: nothing is compared.
  [[nodiscard]] absl::StatusOr<bool> Same(const ChosenTensor& a, const ChosenTensor& b) const override;
  [[nodiscard]] std::string ListNames() const override;

 private:
  std::string path_;
  formats::GgufFile file_;
};

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_GGUF_TENSORS_H_

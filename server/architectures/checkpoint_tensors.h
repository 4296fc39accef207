#ifndef EMBD_SERVER_ARCHITECTURES_CHECKPOINT_TENSORS_H_
#define EMBD_SERVER_ARCHITECTURES_CHECKPOINT_TENSORS_H_

#include <string>
#include <utility>

#include "server/architectures/tensor_source.h"
#include "server/formats/checkpoint.h"

namespace embd::architectures {

/// The tensors of a model folder.
class CheckpointTensors final : public TensorSource {
 public:
  explicit CheckpointTensors(formats::Checkpoint checkpoint) : checkpoint_(std::move(checkpoint)) {}

  [[nodiscard]] const std::string& path() const override { return checkpoint_.folder(); }
  [[nodiscard]] bool Has(absl::string_view name) const override { return checkpoint_.Has(name); }
  [[nodiscard]] absl::StatusOr<ChosenTensor> Find(const std::string& name) const override;
  [[nodiscard]] absl::StatusOr<bool> Same(const ChosenTensor& a, const ChosenTensor& b) const override;
  [[nodiscard]] std::string ListNames() const override { return checkpoint_.ListNames(); }

 private:
  formats::Checkpoint checkpoint_;
};

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_CHECKPOINT_TENSORS_H_

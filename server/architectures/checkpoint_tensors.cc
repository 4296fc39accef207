#include "server/architectures/checkpoint_tensors.h"

#include "server/formats/same_tensor.h"

namespace embd::architectures {

absl::StatusOr<ChosenTensor> CheckpointTensors::Find(const std::string& name) const {
  auto found = checkpoint_.Find(name);
  if (!found.ok()) return found.status();
  return ChosenTensor{.name = name, .path = std::move(found->path), .shape = std::move(found->shape)};
}

absl::StatusOr<bool> CheckpointTensors::Same(const ChosenTensor& a, const ChosenTensor& b) const {
  return formats::SameTensor({a.path, a.name}, {b.path, b.name});
}

}  // namespace embd::architectures

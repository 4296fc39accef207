#include "server/architectures/gguf_tensors.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"

namespace embd::architectures {

absl::StatusOr<ChosenTensor> GgufTensors::Find(const std::string& name) const {
  const formats::GgufTensor* const tensor = file_.Find(name);
  if (tensor == nullptr) {
    return formats::AtPath(
        path_, core::InvalidArgument("TENSOR_NOT_FOUND",
                                     absl::StrCat("no tensor ", core::Quote(name), "; there are ", ListNames())));
  }
  std::vector<std::int64_t> shape(tensor->sizes.begin(), tensor->sizes.begin() + tensor->rank);
  std::reverse(shape.begin(), shape.end());
  return ChosenTensor{.name = name, .path = path_, .shape = std::move(shape)};
}

absl::StatusOr<bool> GgufTensors::Same(const ChosenTensor& a, const ChosenTensor& b) const { return a.name == b.name; }

std::string GgufTensors::ListNames() const {
  constexpr std::size_t kMaxNames = 10;
  const std::size_t count = file_.tensors.size();
  if (count == 0) return "none";
  std::string list;
  for (std::size_t i = 0; i < std::min(count, kMaxNames); ++i) {
    absl::StrAppend(&list, i == 0 ? "" : ", ", core::Quote(file_.tensors[i].name));
  }
  if (count > kMaxNames) absl::StrAppend(&list, ", … (", count, " in all)");
  return list;
}

}  // namespace embd::architectures

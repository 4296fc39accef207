#ifndef EMBD_SERVER_ARCHITECTURES_TENSOR_CHOICE_H_
#define EMBD_SERVER_ARCHITECTURES_TENSOR_CHOICE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/checkpoint.h"

namespace embd::architectures {

/// A tensor that was chosen.
struct ChosenTensor {
  std::string name;
  std::string path;                 ///< of the file that holds it
  std::vector<std::int64_t> shape;  ///< outermost first
};

/// Names that a tensor may have.
using Names = std::vector<std::string>;

/// Every suffix behind every prefix: the suffixes in order, each with all prefixes.
[[nodiscard]] Names Prefixed(std::initializer_list<absl::string_view> prefixes,
                             std::initializer_list<absl::string_view> suffixes);

/// The first of `names` that the checkpoint holds.
///
/// `what` says what is looked for, e.g. "token table"; `key` is how YAML names the tensor to take, e.g. "token.tensor".
/// Cost: a header or two; where several names are there, one pass over their bytes.
/// Errors: those of formats::Checkpoint::Find and formats::SameTensor, and
///   INVALID_ARGUMENT  [TENSOR_NOT_FOUND] none is there; lists what was tried and what there is.
///   INVALID_ARGUMENT  [INVALID_FILE] several are there and differ.
[[nodiscard]] absl::StatusOr<ChosenTensor> ChooseTensor(const formats::Checkpoint& checkpoint, const Names& names,
                                                        absl::string_view what, absl::string_view key);

/// The tensor of that name.
///
/// Errors: those of formats::Checkpoint::Find.
[[nodiscard]] absl::StatusOr<ChosenTensor> NamedTensor(const formats::Checkpoint& checkpoint, const std::string& name);

/// "[320, 64]".
[[nodiscard]] std::string ShapeText(const std::vector<std::int64_t>& shape);

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_TENSOR_CHOICE_H_

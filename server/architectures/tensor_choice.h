#ifndef EMBD_SERVER_ARCHITECTURES_TENSOR_CHOICE_H_
#define EMBD_SERVER_ARCHITECTURES_TENSOR_CHOICE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/architectures/tensor_source.h"

namespace embd::architectures {

/// Names that a tensor may have.
using Names = std::vector<std::string>;

/// Every suffix behind every prefix: the suffixes in order, each with all prefixes.
[[nodiscard]] Names Prefixed(std::initializer_list<absl::string_view> prefixes,
                             std::initializer_list<absl::string_view> suffixes);

/// The first of `names` that there is.
///
/// `what` says what is looked for, e.g. "token table"; `key` is how YAML names the tensor to take, e.g. "token.tensor".
/// Cost: a header or two; where several names are there, one pass over their bytes.
/// Errors: those of TensorSource, and
///   INVALID_ARGUMENT  [TENSOR_NOT_FOUND] none is there; lists what was tried and what there is.
///   INVALID_ARGUMENT  [INVALID_FILE] several are there and differ.
[[nodiscard]] absl::StatusOr<ChosenTensor> ChooseTensor(const TensorSource& tensors, const Names& names,
                                                        absl::string_view what, absl::string_view key);

/// `"a", "b"`.
[[nodiscard]] std::string QuotedNames(const Names& names);

/// "[320, 64]".
[[nodiscard]] std::string ShapeText(const std::vector<std::int64_t>& shape);

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_TENSOR_CHOICE_H_

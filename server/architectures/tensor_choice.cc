#include "server/architectures/tensor_choice.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"

namespace embd::architectures {
namespace {

absl::Status NoneFound(const TensorSource& tensors, const Names& names, absl::string_view what, absl::string_view key) {
  const std::string message = absl::StrCat("has no ", what, ": tried ", QuotedNames(names), "; there are ",
                                           tensors.ListNames(), "; name the one that is meant as ", key);
  return formats::AtPath(tensors.path(), core::InvalidArgument("TENSOR_NOT_FOUND", message));
}

// That `other` is the same tensor as `first` under a second name.
absl::Status CheckSame(const TensorSource& tensors, const ChosenTensor& first, const std::string& other,
                       absl::string_view what, absl::string_view key) {
  const auto second = tensors.Find(other);
  if (!second.ok()) return second.status();
  const auto same = tensors.Same(first, *second);
  if (!same.ok()) return same.status();
  if (*same) return absl::OkStatus();
  return formats::AtPath(
      tensors.path(), formats::InvalidFile(absl::StrCat("has two tensors that could be the ", what,
                                                        " and differ: ", core::Quote(first.name), " and ",
                                                        core::Quote(other), "; name the one that is meant as ", key)));
}

}  // namespace

Names Prefixed(std::initializer_list<absl::string_view> prefixes, std::initializer_list<absl::string_view> suffixes) {
  Names names;
  for (const absl::string_view suffix : suffixes) {
    for (const absl::string_view prefix : prefixes) names.push_back(absl::StrCat(prefix, suffix));
  }
  return names;
}

absl::StatusOr<ChosenTensor> ChooseTensor(const TensorSource& tensors, const Names& names, absl::string_view what,
                                          absl::string_view key) {
  Names present;
  for (const std::string& name : names) {
    if (tensors.Has(name)) present.push_back(name);
  }
  if (present.empty()) return NoneFound(tensors, names, what, key);
  auto chosen = tensors.Find(present.front());
  if (!chosen.ok()) return chosen.status();
  for (std::size_t i = 1; i < present.size(); ++i) {
    if (absl::Status status = CheckSame(tensors, *chosen, present[i], what, key); !status.ok()) return status;
  }
  return chosen;
}

std::string QuotedNames(const Names& names) {
  return absl::StrJoin(names, ", ", [](std::string* out, const std::string& name) { *out += core::Quote(name); });
}

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

}  // namespace embd::architectures

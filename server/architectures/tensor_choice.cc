#include "server/architectures/tensor_choice.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"
#include "server/formats/same_tensor.h"

namespace embd::architectures {
namespace {

std::string Quoted(const Names& names) {
  return absl::StrJoin(names, ", ", [](std::string* out, const std::string& name) { *out += core::Quote(name); });
}

absl::Status NoneFound(const formats::Checkpoint& checkpoint, const Names& names, absl::string_view what,
                       absl::string_view key) {
  const std::string message = absl::StrCat("has no ", what, ": tried ", Quoted(names), "; there are ",
                                           checkpoint.ListNames(), "; name the one that is meant as ", key);
  return formats::AtPath(checkpoint.folder(), core::InvalidArgument("TENSOR_NOT_FOUND", message));
}

// That `other` is the same tensor as `first` under a second name.
absl::Status CheckSame(const formats::Checkpoint& checkpoint, const ChosenTensor& first, const std::string& other,
                       absl::string_view what, absl::string_view key) {
  const auto second = checkpoint.Find(other);
  if (!second.ok()) return second.status();
  const auto same = formats::SameTensor({first.path, first.name}, {second->path, other});
  if (!same.ok()) return same.status();
  if (*same) return absl::OkStatus();
  return formats::AtPath(checkpoint.folder(),
                         formats::InvalidFile(absl::StrCat(
                             "has two tensors that could be the ", what, " and differ: ", core::Quote(first.name),
                             " and ", core::Quote(other), "; name the one that is meant as ", key)));
}

}  // namespace

Names Prefixed(std::initializer_list<absl::string_view> prefixes, std::initializer_list<absl::string_view> suffixes) {
  Names names;
  for (const absl::string_view suffix : suffixes) {
    for (const absl::string_view prefix : prefixes) names.push_back(absl::StrCat(prefix, suffix));
  }
  return names;
}

absl::StatusOr<ChosenTensor> NamedTensor(const formats::Checkpoint& checkpoint, const std::string& name) {
  auto found = checkpoint.Find(name);
  if (!found.ok()) return found.status();
  return ChosenTensor{.name = name, .path = std::move(found->path), .shape = std::move(found->shape)};
}

absl::StatusOr<ChosenTensor> ChooseTensor(const formats::Checkpoint& checkpoint, const Names& names,
                                          absl::string_view what, absl::string_view key) {
  Names present;
  for (const std::string& name : names) {
    if (checkpoint.Has(name)) present.push_back(name);
  }
  if (present.empty()) return NoneFound(checkpoint, names, what, key);
  auto chosen = NamedTensor(checkpoint, present.front());
  if (!chosen.ok()) return chosen.status();
  for (std::size_t i = 1; i < present.size(); ++i) {
    if (absl::Status status = CheckSame(checkpoint, *chosen, present[i], what, key); !status.ok()) return status;
  }
  return chosen;
}

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

}  // namespace embd::architectures

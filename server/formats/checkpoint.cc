#include "server/formats/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"
#include "server/formats/file_reader.h"
#include "server/formats/out_of_memory.h"
#include "server/formats/safetensors_header.h"

namespace embd::formats {
namespace {

namespace fs = std::filesystem;

constexpr char kSingleFile[] = "model.safetensors";
constexpr char kIndexFile[] = "model.safetensors.index.json";

std::string InFolder(const std::string& folder, const std::string& file) { return (fs::path(folder) / file).string(); }

bool IsOtherWeights(absl::string_view name) {
  for (const absl::string_view ending : {".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack"}) {
    if (absl::EndsWith(name, ending)) return true;
  }
  return false;
}

absl::Status Missing(absl::string_view message) {
  return core::Error(absl::StatusCode::kNotFound, "FILE_NOT_FOUND", message);
}

/// What there is to choose from in a folder.
struct Listing {
  std::vector<std::string> safetensors;  // sorted
  std::string other_weights;             // one of them; empty: none
  bool has_index = false;
};

absl::StatusOr<Listing> List(const std::string& folder) {
  if (folder.find('\0') != std::string::npos) return Missing("cannot open the folder: its path contains a zero byte");
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error == std::errc::not_a_directory) return InvalidFile("is not a folder");
  if (error) return Missing(absl::StrCat("cannot open the folder: ", error.message()));
  Listing listing;
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (absl::EndsWith(name, ".safetensors")) listing.safetensors.push_back(name);
    if (name == kIndexFile) listing.has_index = true;
    if (IsOtherWeights(name) && (listing.other_weights.empty() || name < listing.other_weights)) {
      listing.other_weights = name;
    }
  }
  if (error) return Missing(absl::StrCat("cannot read the folder: ", error.message()));
  std::sort(listing.safetensors.begin(), listing.safetensors.end());
  return listing;
}

// The one file that holds all tensors, or nothing where the index tells.
absl::StatusOr<std::optional<std::string>> ChooseFile(const Listing& listing) {
  const std::vector<std::string>& files = listing.safetensors;
  if (std::binary_search(files.begin(), files.end(), kSingleFile)) return kSingleFile;
  if (listing.has_index) return std::nullopt;
  if (files.size() == 1) return files.front();
  if (files.size() > 1) {
    return InvalidFile(absl::StrCat("has ", files.size(), " .safetensors files (", core::Quote(files[0]), ", ",
                                    core::Quote(files[1]), files.size() > 2 ? ", …" : "", ") but neither ", kSingleFile,
                                    " nor ", kIndexFile, "; name the file that is meant"));
  }
  if (!listing.other_weights.empty()) {
    return UnsupportedFormat(absl::StrCat("has no .safetensors file, and ", core::Quote(listing.other_weights),
                                          " is of a format that is not served; convert the weights to safetensors, "
                                          "for example with save_pretrained(folder, safe_serialization=True)"));
  }
  return Missing(absl::StrCat("has no weights: neither ", kSingleFile, " nor ", kIndexFile));
}

absl::StatusOr<std::vector<IndexEntry>> EntriesOfFile(const std::string& folder, const std::string& name) {
  const std::string path = InFolder(folder, name);
  const auto file = FileReader::Open(path);
  if (!file.ok()) return AtPath(path, file.status());
  auto header = ReadSafetensorsHeader(*file);
  if (!header.ok()) return AtPath(path, header.status());
  std::vector<IndexEntry> entries;
  entries.reserve(header->tensors.size());
  for (SafetensorsTensor& tensor : header->tensors) entries.push_back({std::move(tensor.name), name});
  std::sort(entries.begin(), entries.end(),
            [](const IndexEntry& a, const IndexEntry& b) { return a.tensor < b.tensor; });
  return entries;
}

absl::StatusOr<std::vector<IndexEntry>> EntriesOfIndex(const std::string& folder) {
  const std::string path = InFolder(folder, kIndexFile);
  const auto file = FileReader::Open(path);
  if (!file.ok()) return AtPath(path, file.status());
  auto entries = ReadCheckpointIndex(*file);
  if (!entries.ok()) return AtPath(path, entries.status());
  return entries;
}

absl::StatusOr<CheckpointTensor> Describe(const std::string& path, absl::string_view name) {
  const auto file = FileReader::Open(path);
  if (!file.ok()) {
    return core::Error(file.status().code(), core::ErrorReason(file.status()),
                       absl::StrCat(file.status().message(), "; it should hold tensor ", core::Quote(name)));
  }
  const auto header = ReadSafetensorsHeader(*file);
  if (!header.ok()) return header.status();
  const auto tensor = std::find_if(header->tensors.begin(), header->tensors.end(),
                                   [name](const SafetensorsTensor& each) { return each.name == name; });
  if (tensor == header->tensors.end()) {
    return InvalidFile(absl::StrCat("has no tensor ", core::Quote(name), ", which should be in it"));
  }
  if (tensor->rank > tensor->sizes.size()) {
    return UnsupportedFormat(absl::StrCat("tensor ", core::Quote(name), ": ", tensor->rank,
                                          " dimensions are not served; up to ", tensor->sizes.size(), " are"));
  }
  return CheckpointTensor{
      .path = path,
      .dtype = std::string(tensor->type->name),
      .shape = {tensor->sizes.begin(), tensor->sizes.begin() + static_cast<std::ptrdiff_t>(tensor->rank)}};
}

}  // namespace

absl::StatusOr<Checkpoint> Checkpoint::Open(const std::string& folder) {
  return CatchOutOfMemory(folder, [&folder]() -> absl::StatusOr<Checkpoint> {
    const auto listing = List(folder);
    if (!listing.ok()) return AtPath(folder, listing.status());
    const auto file = ChooseFile(*listing);
    if (!file.ok()) return AtPath(folder, file.status());
    auto entries = file->has_value() ? EntriesOfFile(folder, **file) : EntriesOfIndex(folder);
    if (!entries.ok()) return entries.status();
    return Checkpoint(folder, *std::move(entries));
  });
}

const IndexEntry* Checkpoint::Entry(absl::string_view tensor) const {
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), tensor,
      [](const IndexEntry& entry, absl::string_view name) { return absl::string_view(entry.tensor) < name; });
  return found != entries_.end() && found->tensor == tensor ? &*found : nullptr;
}

bool Checkpoint::Has(absl::string_view tensor) const { return Entry(tensor) != nullptr; }

std::vector<std::string> Checkpoint::Names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const IndexEntry& entry : entries_) names.push_back(entry.tensor);
  return names;
}

std::string Checkpoint::ListNames() const {
  constexpr std::size_t kMaxNames = 10;
  if (entries_.empty()) return "none";
  std::string list;
  for (std::size_t i = 0; i < entries_.size() && i < kMaxNames; ++i) {
    absl::StrAppend(&list, i == 0 ? "" : ", ", core::Quote(entries_[i].tensor));
  }
  if (entries_.size() > kMaxNames) absl::StrAppend(&list, ", … (", entries_.size(), " in all)");
  return list;
}

absl::StatusOr<CheckpointTensor> Checkpoint::Find(absl::string_view tensor) const {
  const IndexEntry* const entry = Entry(tensor);
  if (entry == nullptr) {
    return AtPath(folder_, core::InvalidArgument("TENSOR_NOT_FOUND", absl::StrCat("no tensor ", core::Quote(tensor),
                                                                                  "; there are ", ListNames())));
  }
  const std::string path = InFolder(folder_, entry->file);
  return CatchOutOfMemory(path, [&]() -> absl::StatusOr<CheckpointTensor> {
    auto found = Describe(path, tensor);
    if (!found.ok()) return AtPath(path, found.status());
    return found;
  });
}

}  // namespace embd::formats

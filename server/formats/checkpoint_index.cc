#include "server/formats/checkpoint_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"
#include "server/formats/json_reader.h"

namespace embd::formats {
namespace {

constexpr std::uint64_t kMaxIndexBytes = std::uint64_t{64} << 20;

/// Collects the entries of `weight_map`.
class IndexHandler : public JsonHandler {
 public:
  [[nodiscard]] std::vector<IndexEntry>& entries() { return entries_; }
  [[nodiscard]] bool has_map() const { return has_map_; }

  bool null() override { return Ignores() || Unexpected("null"); }
  bool boolean(bool) override { return Ignores() || Unexpected("true or false"); }
  bool number_integer(number_integer_t) override { return Ignores() || Unexpected("a number"); }
  bool number_unsigned(number_unsigned_t) override { return Ignores() || Unexpected("a number"); }
  bool number_float(number_float_t, const string_t&) override { return Ignores() || Unexpected("a number"); }

  bool string(string_t& value) override {
    if (Ignores()) return true;
    if (place_ != Place::kMap) return Unexpected("a string");
    entries_.back().file = std::move(value);
    return true;
  }

  bool start_object(std::size_t) override {
    if (Ignores()) {
      ++ignored_depth_;
      return true;
    }
    if (place_ == Place::kMap) return Unexpected("an object");
    place_ = place_ == Place::kDocument ? Place::kTop : Place::kMap;
    return true;
  }

  bool key(string_t& name) override {
    if (ignored_depth_ > 0) return true;
    if (place_ == Place::kMap) {
      entries_.push_back({.tensor = std::move(name), .file = ""});
      return true;
    }
    in_map_key_ = name == "weight_map";
    if (in_map_key_ && std::exchange(has_map_, true)) return Fail("weight_map stands twice");
    return true;
  }

  bool end_object() override {
    if (ignored_depth_ > 0) {
      --ignored_depth_;
    } else {
      place_ = place_ == Place::kMap ? Place::kTop : Place::kDocument;
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (!Ignores()) return Unexpected("an array");
    ++ignored_depth_;
    return true;
  }

  bool end_array() override {
    --ignored_depth_;
    return true;
  }

 protected:
  bool Unexpected(absl::string_view kind) override {
    switch (place_) {
      case Place::kDocument: return Fail(absl::StrCat("the index is not a JSON object but ", kind));
      case Place::kTop: return Fail(absl::StrCat("weight_map must be an object, got ", kind));
      case Place::kMap: break;
    }
    return Fail(
        absl::StrCat("weight_map: tensor ", core::Quote(entries_.back().tensor), " must be a string, got ", kind));
  }

 private:
  enum class Place { kDocument, kTop, kMap };

  // Whether the value to come belongs to a key that the index may hold but nobody reads.
  [[nodiscard]] bool Ignores() const { return ignored_depth_ > 0 || (place_ == Place::kTop && !in_map_key_); }

  std::vector<IndexEntry> entries_;
  Place place_ = Place::kDocument;
  bool in_map_key_ = false;
  bool has_map_ = false;
  std::int64_t ignored_depth_ = 0;
};

absl::Status CheckFileName(const IndexEntry& entry) {
  const std::string label = absl::StrCat("weight_map: tensor ", core::Quote(entry.tensor), ": ");
  if (entry.file.empty() || entry.file == "." || entry.file == ".." || absl::StrContains(entry.file, '/') ||
      absl::StrContains(entry.file, '\\') || absl::StrContains(entry.file, '\0')) {
    return InvalidFile(
        absl::StrCat(label, core::Quote(entry.file), " must be the name of a file in the index's own folder"));
  }
  if (!absl::EndsWith(entry.file, ".safetensors")) {
    return UnsupportedFormat(absl::StrCat(label, core::Quote(entry.file), " is not a .safetensors file"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<IndexEntry>> ReadCheckpointIndex(const FileReader& file) {
  if (file.size() > kMaxIndexBytes) {
    return InvalidFile(absl::StrCat("an index of ", file.size(), " bytes exceeds ", kMaxIndexBytes));
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  if (auto status = file.ReadAt(0, std::as_writable_bytes(std::span(text))); !status.ok()) return status;
  IndexHandler handler;
  if (auto status = ParseJson(text, 0, handler); !status.ok()) return status;
  if (!handler.has_map()) return InvalidFile("the index has no weight_map");
  std::vector<IndexEntry> entries = std::move(handler.entries());
  for (const IndexEntry& entry : entries) {
    if (auto status = CheckFileName(entry); !status.ok()) return status;
  }
  const auto by_tensor = [](const IndexEntry& a, const IndexEntry& b) { return a.tensor < b.tensor; };
  std::sort(entries.begin(), entries.end(), by_tensor);
  const auto twice = std::adjacent_find(entries.begin(), entries.end(),
                                        [](const IndexEntry& a, const IndexEntry& b) { return a.tensor == b.tensor; });
  if (twice != entries.end()) {
    return InvalidFile(absl::StrCat("weight_map: tensor ", core::Quote(twice->tensor), " stands twice"));
  }
  return entries;
}

}  // namespace embd::formats

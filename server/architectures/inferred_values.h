#ifndef EMBD_SERVER_ARCHITECTURES_INFERRED_VALUES_H_
#define EMBD_SERVER_ARCHITECTURES_INFERRED_VALUES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/architectures/infer_model.h"

namespace embd::architectures {

/// Collects what was found, and what its reader wants to be known.
///
/// Thread safety: not thread-safe.
class InferredValues {
 public:
  /// `value`: text, or a number, which is written so that it reads back to the same.
  void Add(absl::string_view key, absl::string_view value, absl::string_view source) {
    values_.push_back({std::string(key), std::string(value), std::string(source)});
  }
  void Add(absl::string_view key, std::int64_t value, absl::string_view source) {
    Add(key, absl::StrCat(value), source);
  }
  void Add(absl::string_view key, double value, absl::string_view source);
  void Note(std::string note) { notes_.push_back(std::move(note)); }

  /// Takes back `key` and all keys below it, since they were given after all.
  void Forget(absl::string_view key);

  [[nodiscard]] std::vector<InferredValue> TakeValues() { return std::move(values_); }
  [[nodiscard]] std::vector<std::string> TakeNotes() { return std::move(notes_); }

 private:
  std::vector<InferredValue> values_;
  std::vector<std::string> notes_;
};

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_INFERRED_VALUES_H_

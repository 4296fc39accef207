#ifndef EMBD_SERVER_CORE_TABLE_VOCABULARY_H_
#define EMBD_SERVER_CORE_TABLE_VOCABULARY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace embd::core {

/// The words of a token table: word i names row i.
///
/// Words are byte strings, by convention UTF-8. A word that stands twice is found at its first place.
/// Ownership: owns the text; movable, not copyable. Memory: the text, 8 bytes a word for its place and about 8 for the
/// index. Thread safety: never changes after `Build`, so any number of threads may read it.
class Vocabulary {
 public:
  /// Words one after the other, as `Add` collects them, e.g. while a file is read.
  class Builder {
   public:
    void Add(absl::string_view word);
    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()); }
    /// Ends the collection. Errors: RESOURCE_EXHAUSTED beyond 2^31 - 1 words.
    [[nodiscard]] absl::StatusOr<Vocabulary> Build() &&;

   private:
    friend class Vocabulary;
    std::string text_;
    std::vector<std::uint64_t> ends_;
  };

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()); }
  /// How many words stand at an earlier place already.
  [[nodiscard]] std::int64_t duplicate_words() const { return duplicates_; }
  /// Word `id`, which must lie in [0, size()).
  [[nodiscard]] absl::string_view word(std::int64_t id) const;
  /// The first id of `word`, if it is there. Cost: one hash look-up.
  [[nodiscard]] std::optional<std::int64_t> Find(absl::string_view word) const;

 private:
  Vocabulary() = default;

  std::string text_;
  std::vector<std::uint64_t> ends_;  // word i is text_[ends_[i-1], ends_[i])
  std::vector<std::int32_t> slots_;  // open addressing by hash of the word; -1 is free
  std::int64_t duplicates_ = 0;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TABLE_VOCABULARY_H_

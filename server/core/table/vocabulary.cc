#include "server/core/table/vocabulary.h"

#include <limits>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::core {

void Vocabulary::Builder::Add(absl::string_view word) {
  text_.append(word.data(), word.size());
  ends_.push_back(text_.size());
}

absl::StatusOr<Vocabulary> Vocabulary::Builder::Build() && {
  if (ends_.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    return Error(absl::StatusCode::kResourceExhausted, "VOCABULARY_TOO_LARGE",
                 absl::StrCat("a vocabulary holds at most 2147483647 words, got ", ends_.size()));
  }
  Vocabulary vocabulary;
  vocabulary.text_ = std::move(text_);
  vocabulary.text_.shrink_to_fit();
  vocabulary.ends_ = std::move(ends_);
  vocabulary.ends_.shrink_to_fit();
  std::size_t slot_count = 8;
  while (slot_count < vocabulary.ends_.size() * 3 / 2) slot_count *= 2;
  vocabulary.slots_.assign(slot_count, -1);
  for (std::int64_t id = 0; id < vocabulary.size(); ++id) {
    const absl::string_view word = vocabulary.word(id);
    std::size_t slot = absl::HashOf(word) & (slot_count - 1);
    while (vocabulary.slots_[slot] >= 0 && vocabulary.word(vocabulary.slots_[slot]) != word) {
      slot = (slot + 1) & (slot_count - 1);
    }
    if (vocabulary.slots_[slot] >= 0) {
      ++vocabulary.duplicates_;
    } else {
      vocabulary.slots_[slot] = static_cast<std::int32_t>(id);
    }
  }
  return vocabulary;
}

absl::string_view Vocabulary::word(std::int64_t id) const {
  const auto index = static_cast<std::size_t>(id);
  const std::uint64_t begin = index == 0 ? 0 : ends_[index - 1];
  return absl::string_view(text_).substr(begin, ends_[index] - begin);
}

std::optional<std::int64_t> Vocabulary::Find(absl::string_view word) const {
  for (std::size_t slot = absl::HashOf(word) & (slots_.size() - 1); slots_[slot] >= 0;
       slot = (slot + 1) & (slots_.size() - 1)) {
    if (this->word(slots_[slot]) == word) return slots_[slot];
  }
  return std::nullopt;
}

}  // namespace embd::core

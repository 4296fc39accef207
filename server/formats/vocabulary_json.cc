#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"
#include "server/formats/json_reader.h"
#include "server/formats/vocabulary_file.h"

namespace embd::formats {
namespace {

constexpr std::uint64_t kMaxJsonBytes = std::uint64_t{512} << 20;

/// Collects words, with their ids where they stand in an object. Keeps no more than `max_words`, and counts the rest.
class VocabularyHandler : public JsonHandler {
 public:
  explicit VocabularyHandler(std::int64_t max_words) : max_words_(static_cast<std::size_t>(max_words)) {}

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] absl::StatusOr<core::Vocabulary> Build() const;

  bool start_object(std::size_t) override { return Enter(Place::kObject, "an object"); }
  bool start_array(std::size_t) override { return Enter(Place::kArray, "an array"); }
  bool key(string_t& word) override {
    Keep(word);
    last_word_ = std::move(word);
    return true;
  }
  bool string(string_t& word) override {
    if (place_ != Place::kArray) return Unexpected("a string");
    Keep(word);
    ++count_;
    return true;
  }
  bool number_unsigned(number_unsigned_t id) override {
    if (place_ != Place::kObject) return Unexpected("a number");
    if (count_ < max_words_) ids_.push_back(id);
    ++count_;
    return true;
  }

 protected:
  bool Unexpected(absl::string_view kind) override {
    switch (place_) {
      case Place::kDocument:
        return Fail(absl::StrCat("must be an array of words or an object of word -> id, got ", kind));
      case Place::kArray: return Fail(absl::StrCat("[", count_, "] must be a word, got ", kind));
      case Place::kObject: break;
    }
    return Fail(absl::StrCat("the id of ", core::Quote(last_word_), " must be a whole number, got ", kind));
  }

 private:
  enum class Place { kDocument, kArray, kObject };

  bool Enter(Place place, absl::string_view kind) {
    if (place_ != Place::kDocument) return Unexpected(kind);
    place_ = place;
    return true;
  }
  void Keep(const std::string& word) {
    if (count_ >= max_words_) return;
    text_ += word;
    ends_.push_back(text_.size());
  }
  absl::string_view Word(std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return absl::string_view(text_).substr(begin, ends_[index] - begin);
  }
  absl::StatusOr<std::vector<std::size_t>> PlacesById() const;

  std::size_t max_words_;
  Place place_ = Place::kDocument;
  std::size_t count_ = 0;
  std::string text_;
  std::vector<std::size_t> ends_;
  std::vector<std::uint64_t> ids_;  // of the words, where they stand in an object
  std::string last_word_;
};

// For every id the place of its word in the file.
absl::StatusOr<std::vector<std::size_t>> VocabularyHandler::PlacesById() const {
  const std::size_t free = ids_.size();
  std::vector<std::size_t> places(ids_.size(), free);
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (ids_[i] >= places.size()) {
      return InvalidFile(
          absl::StrCat("the id of ", core::Quote(Word(i)), " is ", ids_[i], ", outside [0, ", places.size(), ")"));
    }
    std::size_t& place = places[static_cast<std::size_t>(ids_[i])];
    if (place != free) {
      return InvalidFile(
          absl::StrCat(core::Quote(Word(place)), " and ", core::Quote(Word(i)), " both have the id ", ids_[i]));
    }
    place = i;
  }
  return places;
}

absl::StatusOr<core::Vocabulary> VocabularyHandler::Build() const {
  core::Vocabulary::Builder words;
  if (place_ == Place::kArray) {
    for (std::size_t i = 0; i < ends_.size(); ++i) words.Add(Word(i));
    return std::move(words).Build();
  }
  const auto places = PlacesById();
  if (!places.ok()) return places.status();
  for (const std::size_t place : *places) words.Add(Word(place));
  return std::move(words).Build();
}

}  // namespace

absl::StatusOr<core::Vocabulary> LoadVocabularyJson(const FileReader& file, std::int64_t rows) {
  if (file.size() > kMaxJsonBytes) {
    return InvalidFile(absl::StrCat("has ", file.size(), " bytes, a vocabulary in JSON may have ", kMaxJsonBytes));
  }
  VocabularyHandler handler(rows);
  {
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    if (auto status = file.ReadAt(0, std::as_writable_bytes(std::span(text))); !status.ok()) return status;
    if (auto status = ParseJson(text, 0, handler); !status.ok()) return status;
  }
  if (handler.count() != static_cast<std::size_t>(rows)) {
    return InvalidFile(absl::StrCat("has ", Count(static_cast<std::int64_t>(handler.count()), "word"),
                                    ", the table has ", Count(rows, "row")));
  }
  return handler.Build();
}

}  // namespace embd::formats

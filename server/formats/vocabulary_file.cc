#include "server/formats/vocabulary_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/formats/file_error.h"
#include "server/formats/line_reader.h"

namespace embd::formats {

absl::StatusOr<core::Vocabulary> LoadVocabularyLines(const FileReader& file, std::int64_t rows) {
  LineReader reader(file);
  core::Vocabulary::Builder words;
  while (true) {
    const auto line = reader.Next();
    if (!line.ok()) return line.status();
    if (!line->has_value()) break;
    if (words.size() < rows) words.Add(**line);  // the rest is only counted
  }
  if (reader.line_number() != rows) {
    return InvalidFile(
        absl::StrCat("has ", Count(reader.line_number(), "word"), ", the table has ", Count(rows, "row")));
  }
  return std::move(words).Build();
}

}  // namespace embd::formats

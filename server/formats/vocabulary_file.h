#ifndef EMBD_SERVER_FORMATS_VOCABULARY_FILE_H_
#define EMBD_SERVER_FORMATS_VOCABULARY_FILE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/core/table/vocabulary.h"
#include "server/formats/file_reader.h"

namespace embd::formats {

/// Loads the words of a table of `rows` rows: one word a line, line i for row i, an empty line for an empty word.
///
/// Errors: those of `LineReader::Next` and `Vocabulary::Builder::Build`, and
///   INVALID_ARGUMENT  [INVALID_FILE] not just `rows` words; the message has both numbers.
[[nodiscard]] absl::StatusOr<core::Vocabulary> LoadVocabularyLines(const FileReader& file, std::int64_t rows);

/// Loads the words of a table of `rows` rows from JSON: an array of words, or an object of word -> id with every id in
/// [0, rows) once.
///
/// Memory: up to the file's size twice, besides the words.
/// Errors: those of `FileReader::ReadAt` and `Vocabulary::Builder::Build`, and
///   INVALID_ARGUMENT  [INVALID_FILE] not such JSON, with byte, place or word; more than 512 MiB; an id that
///                     is missing, stands twice or lies outside; or not just `rows` words: the message has both
///                     numbers.
[[nodiscard]] absl::StatusOr<core::Vocabulary> LoadVocabularyJson(const FileReader& file, std::int64_t rows);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_VOCABULARY_FILE_H_

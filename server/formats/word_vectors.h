#ifndef EMBD_SERVER_FORMATS_WORD_VECTORS_H_
#define EMBD_SERVER_FORMATS_WORD_VECTORS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "server/core/table/table.h"
#include "server/core/table/vocabulary.h"
#include "server/formats/file_reader.h"
#include "server/formats/table_storage.h"

namespace embd::formats {

/// A float32 table and the words of its rows.
struct WordVectors {
  core::Table table;
  std::optional<core::Vocabulary> words;
};

/// Loads word vectors as text: a line is a word and D numbers, with spaces or tabs between.
///
/// Both known kinds are read: with a first line "V D" (word2vec, fastText), and without (GloVe), where the first line's
/// fields but one give D. The last D fields of a line are its numbers, what stands before them is the word: it may hold
/// any bytes, spaces too, but no new line. Blank lines may stand at the end only. Words are collected if `keep_words`.
///
/// Cost: reads the file twice. Memory: the table, the words, and the buffer of `LineReader`.
/// Errors: those of `LineReader::Next`, `AllocateTableStorage` and `Vocabulary::Builder::Build`, and
///   INVALID_ARGUMENT  [INVALID_FILE] no rows, a line of another number of fields, a field that is no float32, or
///                     another number of lines than the first line says; with the line.
[[nodiscard]] absl::StatusOr<WordVectors> LoadWordVectors(const FileReader& file, bool keep_words,
                                                          const Reserve& reserve = {});

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_WORD_VECTORS_H_

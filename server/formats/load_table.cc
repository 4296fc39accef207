#include "server/formats/load_table.h"

#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"
#include "server/formats/file_reader.h"
#include "server/formats/npy.h"
#include "server/formats/out_of_memory.h"
#include "server/formats/safetensors.h"
#include "server/formats/vocabulary_file.h"
#include "server/formats/word_vectors.h"

namespace embd::formats {
namespace {

using core::Table;
using core::Vocabulary;

bool IsWordVectors(absl::string_view path) {
  return absl::EndsWithIgnoreCase(path, ".txt") || absl::EndsWithIgnoreCase(path, ".vec") ||
         absl::EndsWithIgnoreCase(path, ".glove");
}

absl::StatusOr<WordVectors> WithoutWords(absl::StatusOr<Table> table) {
  if (!table.ok()) return table.status();
  return WordVectors{.table = *std::move(table), .words = std::nullopt};
}

absl::StatusOr<WordVectors> LoadByEnding(const FileReader& file, const TableRequest& request) {
  if (absl::EndsWithIgnoreCase(request.path, ".safetensors")) {
    return WithoutWords(LoadSafetensors(file, request.tensor, request.reserve));
  }
  const bool npy = absl::EndsWithIgnoreCase(request.path, ".npy");
  if (!npy && !IsWordVectors(request.path)) {
    const std::string ending = std::filesystem::path(request.path).extension().string();
    return UnsupportedFormat(
        absl::StrCat(ending.empty() ? "a file without ending" : absl::StrCat("the ending ", core::Quote(ending)),
                     " is not served; .npy, .safetensors, .txt, .vec and .glove are"));
  }
  if (!request.tensor.empty()) {
    return core::InvalidArgument("TENSOR_NOT_FOUND", absl::StrCat("no tensor ", core::Quote(request.tensor),
                                                                  ": only .safetensors files have tensors with names"));
  }
  return npy ? WithoutWords(LoadNpy(file, request.reserve))
             : LoadWordVectors(file, request.vocabulary.empty(), request.reserve);
}

absl::StatusOr<Vocabulary> LoadVocabulary(const FileReader& file, absl::string_view path, std::int64_t rows) {
  auto vocabulary =
      absl::EndsWithIgnoreCase(path, ".json") ? LoadVocabularyJson(file, rows) : LoadVocabularyLines(file, rows);
  if (!vocabulary.ok()) return AtPath(path, vocabulary.status());
  if (auto status = file.CheckUnchanged(); !status.ok()) return AtPath(path, status);
  return vocabulary;
}

void WarnOfDuplicates(const std::string& path, const Vocabulary& vocabulary, std::vector<std::string>& warnings) {
  if (vocabulary.duplicate_words() == 0) return;
  const std::int64_t count = vocabulary.duplicate_words();
  warnings.push_back(absl::StrCat(DisplayPath(path), ": ", Count(count, "word"), count == 1 ? " stands" : " stand",
                                  " at an earlier place already and will be found there"));
}

absl::StatusOr<LoadedTable> Load(const TableRequest& request) {
  const auto file = FileReader::Open(request.path);
  if (!file.ok()) return AtPath(request.path, file.status());
  std::optional<FileReader> vocabulary_file;  // opened first: a wrong name shows before a long load
  if (!request.vocabulary.empty()) {
    auto opened = FileReader::Open(request.vocabulary);
    if (!opened.ok()) return AtPath(request.vocabulary, opened.status());
    vocabulary_file.emplace(*std::move(opened));
  }
  auto loaded = LoadByEnding(*file, request);
  if (!loaded.ok()) return AtPath(request.path, loaded.status());
  if (auto status = file->CheckUnchanged(); !status.ok()) return AtPath(request.path, status);

  LoadedTable result{.table = std::move(loaded->table), .vocabulary = std::move(loaded->words), .warnings = {}};
  if (vocabulary_file.has_value()) {
    auto vocabulary = LoadVocabulary(*vocabulary_file, request.vocabulary, result.table.rows());
    if (!vocabulary.ok()) return vocabulary.status();
    result.vocabulary = *std::move(vocabulary);
  }
  if (result.vocabulary.has_value()) {
    WarnOfDuplicates(vocabulary_file.has_value() ? request.vocabulary : request.path, *result.vocabulary,
                     result.warnings);
  }
  return result;
}

}  // namespace

absl::StatusOr<LoadedTable> LoadTable(const TableRequest& request) {
  return CatchOutOfMemory(request.path, [&request] { return Load(request); });
}

}  // namespace embd::formats

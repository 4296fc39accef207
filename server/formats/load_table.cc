#include "server/formats/load_table.h"

#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"
#include "server/formats/file_reader.h"
#include "server/formats/gguf.h"
#include "server/formats/npy.h"
#include "server/formats/out_of_memory.h"
#include "server/formats/safetensors.h"
#include "server/formats/stored_rows.h"
#include "server/formats/vocabulary_file.h"
#include "server/formats/word_vectors.h"

namespace embd::formats {
namespace {

using core::Table;
using core::Vocabulary;

bool HasEnding(absl::string_view path, absl::string_view ending) { return absl::EndsWithIgnoreCase(path, ending); }

bool IsWordVectors(absl::string_view path) {
  return HasEnding(path, ".txt") || HasEnding(path, ".vec") || HasEnding(path, ".glove");
}

/// What the file with the rows gives.
struct FromFile {
  LoadedRows rows;
  std::optional<Vocabulary> words;
};

absl::StatusOr<FromFile> WithoutWords(absl::StatusOr<LoadedRows> rows) {
  if (!rows.ok()) return rows.status();
  return FromFile{.rows = *std::move(rows), .words = std::nullopt};
}

absl::StatusOr<FromFile> LoadText(const FileReader& file, const TableRequest& request) {
  if (request.mmap) return CannotMap("a text");
  auto vectors = LoadWordVectors(file, request.vocabulary.empty(), request.reserve);
  if (!vectors.ok()) return vectors.status();
  return FromFile{.rows = LoadedRows::Of(std::move(vectors->table)), .words = std::move(vectors->words)};
}

absl::StatusOr<FromFile> LoadRawFile(const FileReader& file, const TableRequest& request, const StorageOptions& how) {
  if (!request.layout.has_value()) {
    return core::InvalidArgument(
        "LAYOUT_MISSING",
        "a .bin file does not say what it holds: give dtype (float32, float16, bfloat16 or "
        "float64) and shape ([rows, columns]); weights that PyTorch saved must be converted to "
        "safetensors");
  }
  return WithoutWords(LoadRaw(file, *request.layout, how));
}

absl::StatusOr<FromFile> LoadByEnding(const FileReader& file, const TableRequest& request) {
  const StorageOptions how = {.reserve = request.reserve, .mmap = request.mmap};
  if (HasEnding(request.path, ".safetensors")) return WithoutWords(LoadSafetensors(file, request.tensor, how));
  if (HasEnding(request.path, ".gguf")) return WithoutWords(LoadGguf(file, request.tensor, how));
  const bool npy = HasEnding(request.path, ".npy");
  const bool raw = HasEnding(request.path, ".bin");
  if (!npy && !raw && !IsWordVectors(request.path)) {
    const std::string ending = std::filesystem::path(request.path).extension().string();
    return UnsupportedFormat(
        absl::StrCat(ending.empty() ? "a file without ending" : absl::StrCat("the ending ", core::Quote(ending)),
                     " is not served; .npy, .safetensors, .gguf, .bin, .txt, .vec and .glove are"));
  }
  if (!request.tensor.empty()) {
    return core::InvalidArgument("TENSOR_NOT_FOUND",
                                 absl::StrCat("no tensor ", core::Quote(request.tensor),
                                              ": only .safetensors and .gguf files have tensors with names"));
  }
  if (raw) return LoadRawFile(file, request, how);
  return npy ? WithoutWords(LoadNpy(file, how)) : LoadText(file, request);
}

// Whether a file that says its layout itself says what was expected.
absl::Status CheckLayout(const RawLayout& expected, const Table& table) {
  if (expected.type == table.element_type() && expected.rows == table.rows() && expected.columns == table.dim()) {
    return absl::OkStatus();
  }
  return core::Error(absl::StatusCode::kFailedPrecondition, "LAYOUT_MISMATCH",
                     absl::StrCat("the file holds ", table.rows(), " x ", table.dim(), " ",
                                  core::ElementTypeName(table.element_type()), ", the configuration says ",
                                  expected.rows, " x ", expected.columns, " ", core::ElementTypeName(expected.type)));
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

  if (request.layout.has_value()) {
    if (auto status = CheckLayout(*request.layout, loaded->rows.table); !status.ok())
      return AtPath(request.path, status);
  }

  LoadedTable result{.table = std::move(loaded->rows.table),
                     .checksum = std::move(loaded->rows.checksum),
                     .nans = loaded->rows.nans,
                     .vocabulary = std::move(loaded->words),
                     .warnings = {}};
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

#include "server/formats/word_vectors.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"
#include "server/formats/line_reader.h"

namespace embd::formats {
namespace {

bool IsSeparator(char c) { return c == ' ' || c == '\t'; }

absl::string_view WithoutTrailingSeparators(absl::string_view line) {
  while (!line.empty() && IsSeparator(line.back())) line.remove_suffix(1);
  return line;
}

// The first place from `position` on, at most the end, where IsSeparator is `wanted`.
std::size_t Find(bool wanted, absl::string_view text, std::size_t position) {
  while (position < text.size() && IsSeparator(text[position]) != wanted) ++position;
  return position;
}

absl::Status LineError(std::int64_t line, absl::string_view message) {
  return InvalidFile(absl::StrCat("line ", line, ": ", message));
}

/// What the first pass finds out.
struct Shape {
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  bool has_header = false;
};

std::optional<std::int64_t> WholeNumber(absl::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// Takes V and D from the first line, or D alone where it is a word with its vector.
absl::StatusOr<Shape> ParseFirstLine(absl::string_view line) {
  line = WithoutTrailingSeparators(line);
  std::int64_t fields = 1;
  std::size_t separator = absl::string_view::npos;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!IsSeparator(line[i]) || IsSeparator(line[i + 1])) continue;  // the last character is no separator
    ++fields;
    if (separator == absl::string_view::npos) separator = i;
  }
  if (fields < 2) return LineError(1, "expected a word and its numbers");
  if (fields == 2) {
    const auto rows = WholeNumber(WithoutTrailingSeparators(line.substr(0, separator)));
    const auto dim = WholeNumber(line.substr(separator + 1));
    if (rows.has_value() && dim.has_value()) {
      if (*rows < 1 || *dim < 1)
        return LineError(1, absl::StrCat("says ", Count(*rows, "word"), " of ", Count(*dim, "number")));
      return Shape{.rows = *rows, .dim = *dim, .has_header = true};
    }
  }
  return Shape{.rows = 0, .dim = fields - 1, .has_header = false};
}

// Reads the whole file for its number of lines, so that the table is allocated once and no larger than the text allows.
absl::StatusOr<Shape> FindShape(const FileReader& file) {
  LineReader reader(file);
  auto line = reader.Next();
  if (!line.ok()) return line.status();
  if (!line->has_value()) return LineError(1, "the file is empty");
  auto shape = ParseFirstLine(**line);
  if (!shape.ok()) return shape.status();
  std::int64_t last_line = 1;  // that is not blank
  do {
    line = reader.Next();
    if (!line.ok()) return line.status();
    if (line->has_value() && !WithoutTrailingSeparators(**line).empty()) last_line = reader.line_number();
  } while (line->has_value());
  const std::int64_t rows = last_line - (shape->has_header ? 1 : 0);
  if (shape->has_header && rows != shape->rows) {
    return LineError(1, absl::StrCat("says ", Count(shape->rows, "word"), ", the file has ", rows));
  }
  shape->rows = rows;
  // A number takes at least a digit and a separator.
  if (shape->dim > static_cast<std::int64_t>(file.size()) / 2 / rows) {
    return LineError(1, absl::StrCat("says ", Count(shape->dim, "number"), " a line, the file's ", file.size(),
                                     " bytes cannot hold ", Count(rows, "such line")));
  }
  return shape;
}

// The number of bytes before the last `count` fields and the separator in front of them, or nothing where there are not
// so many.
std::optional<std::size_t> WordLength(absl::string_view line, std::int64_t count) {
  std::size_t position = line.size();
  for (std::int64_t field = 0; field < count; ++field) {
    if (field > 0) {
      while (position > 0 && IsSeparator(line[position - 1])) --position;
    }
    while (position > 0 && !IsSeparator(line[position - 1])) --position;
    if (position == 0) return std::nullopt;
  }
  return position - 1;
}

absl::StatusOr<float> ParseFloat(absl::string_view text) {
  const char* const begin = text.data() + (text.substr(0, 1) == "+" && text.substr(1, 1) != "-" ? 1 : 0);
  const char* const end = text.data() + text.size();
  float value = 0;
  auto result = std::from_chars(begin, end, value);
  if (result.ec == std::errc::result_out_of_range) {
    double wide = 0;
    result = std::from_chars(begin, end, wide);
    if (result.ec != std::errc() || std::abs(wide) > 1) {
      return InvalidFile(absl::StrCat(core::Quote(text), " exceeds the range of float32"));
    }
    value = std::copysign(0.0f, static_cast<float>(wide));  // below half of the least float32
  }
  if (result.ec != std::errc() || result.ptr != end)
    return InvalidFile(absl::StrCat(core::Quote(text), " is no number"));
  return value;
}

absl::Status ParseNumbers(absl::string_view text, std::int64_t line_number, std::int64_t dim, std::byte* row) {
  std::size_t position = 0;
  for (std::int64_t i = 0; i < dim; ++i) {
    position = Find(false, text, position);
    const std::size_t end = Find(true, text, position);
    const auto value = ParseFloat(text.substr(position, end - position));
    if (!value.ok()) {
      return LineError(line_number, absl::StrCat("number ", i + 1, " of ", dim, ": ", value.status().message()));
    }
    std::memcpy(row + static_cast<std::size_t>(i) * sizeof(float), &*value, sizeof(float));
    position = end;
  }
  return absl::OkStatus();
}

// Fills `out`, of exactly the shape's size, and `words`, if there are any wanted.
absl::Status ReadRows(const FileReader& file, const Shape& shape, std::byte* out, core::Vocabulary::Builder* words) {
  LineReader reader(file);
  if (shape.has_header) {
    if (auto line = reader.Next(); !line.ok()) return line.status();
  }
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const auto next = reader.Next();
    if (!next.ok()) return next.status();
    if (!next->has_value()) return LineError(reader.line_number(), "the file has become shorter while it was read");
    const absl::string_view line = WithoutTrailingSeparators(**next);
    const auto word_length = WordLength(line, shape.dim);
    if (!word_length.has_value()) {
      return LineError(reader.line_number(),
                       absl::StrCat("expected a word and ", Count(shape.dim, "number"), ", got fewer"));
    }
    std::byte* const target = out + static_cast<std::size_t>(row * shape.dim) * sizeof(float);
    auto status = ParseNumbers(line.substr(*word_length), reader.line_number(), shape.dim, target);
    if (!status.ok()) return status;
    if (words != nullptr) words->Add(line.substr(0, *word_length));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WordVectors> LoadWordVectors(const FileReader& file, bool keep_words, const Reserve& reserve) {
  const auto shape = FindShape(file);
  if (!shape.ok()) return shape.status();
  const auto bytes = core::TableBytes(shape->rows, shape->dim, core::ElementType::kFloat32);
  if (!bytes.ok()) return bytes.status();
  auto storage = AllocateTableStorage(*bytes, reserve);
  if (!storage.ok()) return storage.status();
  core::Vocabulary::Builder words;
  auto status = ReadRows(file, *shape, storage->data(), keep_words ? &words : nullptr);
  if (!status.ok()) return status;
  auto table = core::Table::Create(shape->rows, shape->dim, core::ElementType::kFloat32, *std::move(storage));
  if (!table.ok()) return table.status();
  WordVectors vectors{.table = *std::move(table), .words = std::nullopt};
  if (keep_words) {
    auto vocabulary = std::move(words).Build();
    if (!vocabulary.ok()) return vocabulary.status();
    vectors.words = *std::move(vocabulary);
  }
  return vectors;
}

}  // namespace embd::formats

// A model folder: the text of its config.json, and after a line "---" the tensors of its model.safetensors, one a line
// as in "wte.weight F32 10 4". Their places in the file are added, and their values are zeros.

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/fuzz/check_inferred.h"
#include "tests/unit/formats/file_bytes.h"

namespace {

constexpr std::uint64_t kMaxDataBytes = std::uint64_t{1} << 30;  // a hole in the file, which takes no room

struct Folder {
  embd::fuzz::InputFile config{"config.json"};
  embd::fuzz::InputFile weights{"model.safetensors", config.folder()};
};

std::uint64_t BytesOf(absl::string_view dtype) {
  if (dtype == "F64" || dtype == "I64") return 8;
  return dtype == "F16" || dtype == "BF16" ? 2 : 4;
}

// Writes the tensors that the lines name; lines that name none are passed over.
void WriteWeights(absl::string_view lines, embd::fuzz::InputFile* file) {
  std::vector<std::string> entries;
  std::uint64_t end = 0;
  for (const absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (fields.size() < 2 || line.find_first_of("\"\\") != absl::string_view::npos) continue;
    std::uint64_t bytes = BytesOf(fields[1]);
    std::vector<std::uint64_t> shape;
    for (std::size_t i = 2; i < fields.size(); ++i) {
      std::uint32_t size = 0;
      if (!absl::SimpleAtoi(fields[i], &size)) break;
      shape.push_back(size);
      bytes = bytes > kMaxDataBytes ? bytes : bytes * size;
    }
    if (end + bytes > kMaxDataBytes) continue;
    entries.push_back(embd::formats::Entry(std::string(fields[0]), std::string(fields[1]),
                                           absl::StrCat("[", absl::StrJoin(shape, ","), "]"), end, end + bytes));
    end += bytes;
  }
  file->Write(embd::formats::SafetensorsFile(embd::formats::Header(entries), ""), end);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  static Folder folder;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(fuzz::Text(bytes, size), absl::MaxSplits("\n---\n", 1));
  folder.config.Write(parts.first);
  WriteWeights(parts.second, &folder.weights);
  fuzz::CheckInferred(folder.config.folder());
  return 0;
}

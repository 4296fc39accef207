// The words of a table: the first byte says whether as lines or as JSON, and how many rows the table has.

#include "tests/fuzz/fuzzing.h"

namespace {

constexpr std::uint64_t kMaxRows = 64;

// A vocabulary, and beside it tables of 1 to kMaxRows rows.
struct Folder {
  Folder() { table.Write("", kMaxRows * sizeof(float)); }

  embd::fuzz::InputFile lines{"words.txt"};
  embd::fuzz::InputFile json{"words.json", lines.folder()};
  embd::fuzz::InputFile table{"table.bin", lines.folder()};
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  static Folder folder;
  fuzz::Choices choices(fuzz::Text(bytes, size));
  const std::uint64_t way = choices.Number(1);
  const std::uint64_t rows = 1 + (way >> 1) % kMaxRows;
  fuzz::InputFile& file = (way & 1) == 0 ? folder.lines : folder.json;
  file.Write(choices.rest());
  folder.table.Write("", rows * sizeof(float));
  const auto loaded = fuzz::Load({.path = folder.table.path(),
                                  .vocabulary = file.path(),
                                  .layout = formats::RawLayout{.rows = static_cast<std::int64_t>(rows), .columns = 1}});
  fuzz::CheckLoaded(loaded, file.folder());
  if (!loaded.ok()) return 0;
  for (std::int64_t i = 0; i < loaded->table.rows(); ++i) {
    const absl::string_view word = loaded->vocabulary->word(i);
    const auto id = loaded->vocabulary->Find(word);
    if (!id.has_value() || loaded->vocabulary->word(*id) != word) fuzz::Fail("a word that was read is found");
  }
  return 0;
}

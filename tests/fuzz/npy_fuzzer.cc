// An .npy file. The first byte says how the rest becomes one: as it is, or as the header's text, whose length and data
// are added, so that the text is what is fuzzed.

#include "tests/fuzz/fuzzing.h"
#include "tests/unit/formats/file_bytes.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  static fuzz::InputFile file("table.npy");
  fuzz::Choices choices(fuzz::Text(bytes, size));
  const std::uint64_t way = choices.Number(1);
  if ((way & 1) == 0) {
    file.Write(choices.rest());
  } else {
    const int version = static_cast<int>(way >> 1 & 3);
    const std::uint64_t zeros = choices.Number(2);
    file.Write(formats::NpyFile(std::string(choices.rest()), "", version), zeros);
  }
  const auto copied = fuzz::Load({.path = file.path()});
  fuzz::CheckLoaded(copied, file.path());
  const auto mapped = fuzz::Load({.path = file.path(), .mmap = true});
  fuzz::CheckLoaded(mapped, file.path());
  const bool same = !mapped.ok() || (copied.ok() && mapped->checksum == copied->checksum);
  if (!same) fuzz::Fail("mapped and copied are the same");
  return 0;
}

// A .safetensors file. The first byte says how the rest becomes one: as it is, or as the header's JSON, whose length
// and data are added, so that the JSON is what is fuzzed. The whole file's tensors are read, and one by its name.

#include "server/formats/checkpoint.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/unit/formats/file_bytes.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  static fuzz::InputFile file("model.safetensors");
  fuzz::Choices choices(fuzz::Text(bytes, size));
  if (choices.Yes()) {
    const std::uint64_t zeros = choices.Number(2);
    file.Write(formats::SafetensorsFile(std::string(choices.rest()), ""), zeros);
  } else {
    file.Write(choices.rest());
  }
  fuzz::CheckLoaded(fuzz::Load({.path = file.path()}), file.path());
  const auto checkpoint = formats::Checkpoint::Open(file.folder());
  if (!checkpoint.ok()) {
    fuzz::CheckRefusal(checkpoint.status(), file.folder());
    return 0;
  }
  int looked_at = 0;
  for (const std::string& name : checkpoint->Names()) {
    const auto tensor = checkpoint->Find(name);
    if (!tensor.ok()) fuzz::CheckRefusal(tensor.status(), file.folder());
    fuzz::CheckLoaded(fuzz::Load({.path = file.path(), .tensor = name, .mmap = true}), file.path());
    if (++looked_at == 4) break;
  }
  return 0;
}

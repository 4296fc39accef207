// A model.safetensors.index.json, beside a shard that is there and holds the tensor "a".

#include "server/formats/checkpoint.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/unit/formats/file_bytes.h"

namespace {

// The folder with the index and its shard.
struct Folder {
  Folder() { shard.Write(embd::formats::SafetensorsFile(header, ""), 24); }

  const std::string header = embd::formats::Header({embd::formats::Entry("a", "F32", "[3,2]", 0, 24)});
  embd::fuzz::InputFile index{"model.safetensors.index.json"};
  embd::fuzz::InputFile shard{"1.safetensors", index.folder()};
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  static Folder folder;
  folder.index.Write(fuzz::Text(bytes, size));
  const auto checkpoint = formats::Checkpoint::Open(folder.index.folder());
  if (!checkpoint.ok()) {
    fuzz::CheckRefusal(checkpoint.status(), folder.index.folder());
    return 0;
  }
  int looked_at = 0;
  for (const std::string& name : checkpoint->Names()) {
    const auto tensor = checkpoint->Find(name);
    if (!tensor.ok()) fuzz::CheckRefusal(tensor.status(), folder.index.folder());
    if (++looked_at == 8) break;
  }
  return 0;
}

// A GGUF file. The first byte says how the rest becomes one: as it is, or as what it says of keys and tensors, which
// are then laid out by the format's rules.

#include <array>

#include "absl/strings/str_cat.h"
#include "server/formats/gguf_file.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/unit/formats/gguf_bytes.h"

namespace {

using embd::formats::GgufText;
using embd::formats::LittleEndian;
using embd::fuzz::Choices;

std::string DrawName(Choices& choices, absl::string_view usual) {
  return GgufText(std::string(choices.Yes() ? choices.ShortText() : usual));
}

std::string DrawValue(Choices& choices, std::uint64_t kind) {
  constexpr std::array<std::size_t, 13> kBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  constexpr std::uint64_t kText = 8;
  if (kind == kText) return GgufText(std::string(choices.ShortText()));
  if (kind < kBytes.size() && kBytes[kind] > 0) {
    return LittleEndian(choices.Number(kBytes[kind]), static_cast<int>(kBytes[kind]));
  }
  const std::uint64_t of = choices.Below(14);  // an array, or what no kind is
  const std::uint64_t count = choices.Below(6);
  std::string bytes = LittleEndian(of, 4) + LittleEndian(count, 8);
  for (std::uint64_t i = 0; i < count && of < kBytes.size(); ++i) {
    absl::StrAppend(&bytes, of == kText ? GgufText(std::string(choices.ShortText()))
                                        : LittleEndian(choices.Number(kBytes[of]), static_cast<int>(kBytes[of])));
  }
  return bytes;
}

std::string LaidOut(Choices& choices) {
  constexpr std::uint64_t kAlignment = 32;
  const std::uint64_t pairs = choices.Below(5);
  const std::uint64_t tensors = choices.Below(5);
  std::string bytes =
      absl::StrCat("GGUF", LittleEndian(2 + choices.Below(2), 4), LittleEndian(tensors, 8), LittleEndian(pairs, 8));
  for (std::uint64_t i = 0; i < pairs; ++i) {
    absl::StrAppend(&bytes, DrawName(choices, "general.alignment"));
    const std::uint64_t kind = choices.Below(14);
    absl::StrAppend(&bytes, LittleEndian(kind, 4), DrawValue(choices, kind));
  }
  for (std::uint64_t i = 0; i < tensors; ++i) {
    absl::StrAppend(&bytes, DrawName(choices, "token_embd.weight"));
    const std::uint64_t rank = choices.Below(6);
    absl::StrAppend(&bytes, LittleEndian(rank, 4));
    for (std::uint64_t axis = 0; axis < rank; ++axis) absl::StrAppend(&bytes, LittleEndian(choices.Number(2), 8));
    const std::uint64_t offset = choices.Yes() ? choices.Number(2) : choices.Below(8) * kAlignment;
    absl::StrAppend(&bytes, LittleEndian(choices.Below(45), 4), LittleEndian(offset, 8));
  }
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
  return absl::StrCat(bytes, choices.rest());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  static fuzz::InputFile file("model.gguf");
  Choices choices(fuzz::Text(bytes, size));
  if (choices.Yes()) {
    const std::uint64_t zeros = choices.Number(2);
    file.Write(LaidOut(choices), zeros);
  } else {
    file.Write(choices.rest());
  }
  fuzz::CheckLoaded(fuzz::Load({.path = file.path()}), file.path());
  const auto gguf = formats::OpenGguf(file.path());
  if (!gguf.ok()) {
    fuzz::CheckRefusal(gguf.status(), file.path());
    return 0;
  }
  for (std::size_t i = 0; i < gguf->tensors.size() && i < 4; ++i) {
    fuzz::CheckLoaded(fuzz::Load({.path = file.path(), .tensor = gguf->tensors[i].name, .mmap = i % 2 == 1}),
                      file.path());
  }
  return 0;
}

// What a GGUF file says of its model: its metadata, one pair a line as in "llama.context_length u32 64", and after a
// line
// "---" its tensors, one a line as in "token_embd.weight 10 4". Kinds: u32, f32, text (all that follows).

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/fuzz/check_inferred.h"
#include "tests/unit/architectures/gguf_file.h"

namespace {

using embd::architectures::GgufPair;

// The pairs that the lines name; lines that name none are passed over.
std::vector<std::string> Pairs(absl::string_view lines) {
  std::vector<std::string> pairs;
  for (const absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(' ', 2));
    if (fields.size() < 3) continue;
    std::uint32_t count = 0;
    float number = 0;
    if (fields[1] == "text") pairs.push_back(GgufPair(fields[0], fields[2]));
    if (fields[1] == "u32" && absl::SimpleAtoi(fields[2], &count)) pairs.push_back(GgufPair(fields[0], count));
    if (fields[1] == "f32" && absl::SimpleAtof(fields[2], &number)) pairs.push_back(GgufPair(fields[0], number));
  }
  return pairs;
}

// Those of at most 64 Ki elements together.
std::vector<embd::architectures::GgufTestTensor> Tensors(absl::string_view lines) {
  constexpr std::uint64_t kMaxElements = 1 << 16;
  std::vector<embd::architectures::GgufTestTensor> tensors;
  std::uint64_t all = 0;
  for (const absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ');
    embd::architectures::GgufTestTensor tensor{fields[0], {}};
    std::uint64_t elements = 1;
    for (std::size_t i = 1; i < fields.size(); ++i) {
      std::uint32_t size = 0;
      if (!absl::SimpleAtoi(fields[i], &size)) break;
      tensor.shape.push_back(size);
      elements = elements > kMaxElements ? elements : elements * size;
    }
    if (all + elements > kMaxElements) continue;
    all += elements;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  static fuzz::InputFile file("model.gguf");
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(fuzz::Text(bytes, size), absl::MaxSplits("\n---\n", 1));
  file.Write(architectures::GgufBytes(Pairs(parts.first), Tensors(parts.second)));
  fuzz::CheckInferred(file.path());
  return 0;
}

// Spoilt files: whatever they hold, reading them ends well or with a message that begins with the file's name.
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/config/load.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/config/example_files.h"

namespace embd::config {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Gt;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::size_t kMaxMessageBytes = 1024;

constexpr char kEverySetting[] = R"(
server:
  listen: [127.0.0.1:0, "[::1]:9", unix:e.sock]
  limits: { max_request_bytes: 1MiB, max_response_bytes: 2MB, max_batch_size: 3, max_sequence_length: 4,
            max_bytes_in_flight: 5GiB }
  drain_timeout: 500ms
  ready_file: 'ready.json'
  log: { level: off }
models:
  - { name: a, version: 2, token: &t { file: a.safetensors, tensor: x, vocabulary: v }, position: { none: {} } }
  - { name: b, token: *t, position: { learned: { file: p.npy, tensor: y } } }
  - { "name": "c", "path": "c.npy", "position": { "rotary": { "theta": 5e5, "head_dim": 64, "pairing": "half" } } }
  - name: d
    token: { seeded: { vocab_size: 7, embedding_dim: 4, mean: -1.5, std: 0.5, seed: 3 } }
    position: { learned: { seeded: { max_context_length: 9, mean: 0, std: 1, seed: 4 } } }
    token_type: { seeded: { type_vocab_size: 2, mean: 0, std: 1, seed: 5 }, only_when_sent: true }
  - name: e
    path: folder
    side: encoder
    token: { tensor: x, scale: sqrt_dim, scale_rounding: weight_dtype, out_of_range: { unk: 1 } }
    token_type: { shared: true }
    position: { sinusoidal: { base: 5, layout: half, grow_to: 9 }, numbering: mask, row_offset: 2 }
    layer_norm: { weight: { tensor: w }, bias: { file: b.npy, tensor: b }, eps: 0 }
    padding_idx: 1
    sum_order: position_first
    zero_masked: true
    saturate: true
    trained_context_length: 7
)";

std::vector<std::string> Originals() {
  std::vector<std::string> texts = {kEverySetting};
  for (const char* path : kExampleFiles) texts.push_back(ReadSourceFile(path));
  return texts;
}

void ExpectAnAnswer(const std::string& text) {
  const auto result = ParseYaml(text, "f.yaml");
  EXPECT_THAT(result, AnyOf(IsOk(), AllOf(StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("f.yaml:")),
                                          ReasonIs("INVALID_CONFIG"))))
      << text;
  EXPECT_LE(result.status().message().size(), kMaxMessageBytes) << text;
}

TEST(MutatedFiles, OriginalsAreRead) {
  for (const std::string& text : Originals()) {
    ASSERT_THAT(text, SizeIs(Gt(100u)));
    EXPECT_THAT(ParseYaml(text, "f.yaml"), IsOk()) << text;
  }
}

TEST(MutatedFiles, CutAfterAnyByteGetAnAnswer) {
  for (const std::string& text : Originals()) {
    for (std::size_t length = 0; length < text.size(); ++length) ExpectAnAnswer(text.substr(0, length));
  }
}

TEST(MutatedFiles, WithFlippedBitsGetAnAnswer) {
  std::mt19937 random(20240229);
  for (const std::string& original : Originals()) {
    for (int round = 0; round < 2000; ++round) {
      std::string text = original;
      const std::size_t flips = 1 + random() % 4;
      for (std::size_t i = 0; i < flips; ++i) {
        char& byte = text[random() % text.size()];
        byte = static_cast<char>(byte ^ (1 << random() % 8));
      }
      ExpectAnAnswer(text);
    }
  }
}

// Bits rarely flip into what means something to YAML, so its signs are also put in on purpose.
TEST(MutatedFiles, WithSignsOfYamlInTheWrongPlacesGetAnAnswer) {
  constexpr absl::string_view kSigns = "{}[],:-?&*!|>'\"%@`#\n \t~<\\";
  std::mt19937 random(20240301);
  for (const std::string& original : Originals()) {
    for (int round = 0; round < 2000; ++round) {
      std::string text = original;
      const std::size_t signs = 1 + random() % 4;
      for (std::size_t i = 0; i < signs; ++i) {
        const char sign = kSigns[random() % kSigns.size()];
        const std::size_t place = random() % text.size();
        if (random() % 2 == 0) {
          text[place] = sign;
        } else {
          text.insert(place, 1, sign);
        }
      }
      ExpectAnAnswer(text);
    }
  }
}

// Lines moved about give repeated keys, keys in the wrong map and broken indentation.
TEST(MutatedFiles, WithPiecesRepeatedElsewhereGetAnAnswer) {
  std::mt19937 random(20240302);
  for (const std::string& original : Originals()) {
    for (int round = 0; round < 2000; ++round) {
      std::string text = original;
      const std::size_t begin = random() % text.size();
      const std::string piece = text.substr(begin, 1 + random() % 60);
      text.insert(random() % text.size(), piece);
      ExpectAnAnswer(text);
    }
  }
}

}  // namespace
}  // namespace embd::config

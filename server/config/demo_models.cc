#include "server/config/load.h"

namespace embd::config {

std::vector<ModelConfig> DemoModels() {
  constexpr std::int64_t kMaxContextLength = 128;
  constexpr SeededRows kRows = {.mean = 0.0, .std = 0.02, .seed = 11};
  const SeededTokens tokens = {.vocab_size = 320, .embedding_dim = 64, .rows = kRows};
  return {
      {.name = "demo-learned",
       .token = tokens,
       .position = LearnedPositions{SeededPositions{.max_context_length = kMaxContextLength, .rows = kRows}}},
      {.name = "demo-sinusoidal",
       .token = tokens,
       .position = SinusoidalPositions{.max_context_length = kMaxContextLength}},
      {.name = "demo-rotary", .token = tokens, .position = RotaryPositions{}},
  };
}

}  // namespace embd::config

#ifndef EMBD_TESTS_UNIT_CORE_ROTARY_GOLDEN_H_
#define EMBD_TESTS_UNIT_CORE_ROTARY_GOLDEN_H_

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "server/core/position/rotary.h"

namespace embd::core {

/// One line of tests/golden/rotary.txt.
struct RotaryGolden {
  std::string line;
  RotaryParameters parameters;
  std::int64_t scaling_length = 0;
  std::int64_t position = 0;
  std::vector<double> inv_freq;
  double attention_factor = 0;
  std::vector<double> turned;
};

/// The vector that the golden cases turn.
inline std::vector<float> GoldenInput(std::int64_t head_dim) {
  std::vector<float> x;
  for (std::int64_t i = 0; i < head_dim; ++i) x.push_back(static_cast<float>((37 * i) % 64 - 32) / 16.0f);
  return x;
}

inline void SetScalingField(const std::string& key, double value, RotaryScaling* scaling) {
  if (key == "factor") scaling->factor = value;
  if (key == "original_max_position_embeddings") {
    scaling->original_max_position_embeddings = static_cast<std::int64_t>(value);
  }
  if (key == "low_freq_factor") scaling->low_freq_factor = value;
  if (key == "high_freq_factor") scaling->high_freq_factor = value;
  if (key == "beta_fast") scaling->beta_fast = value;
  if (key == "beta_slow") scaling->beta_slow = value;
  if (key == "attention_factor") scaling->attention_factor = value;
  if (key == "mscale") scaling->mscale = value;
  if (key == "mscale_all_dim") scaling->mscale_all_dim = value;
  if (key == "truncate") scaling->truncate = value != 0;
  if (key == "max_position_embeddings") scaling->max_position_embeddings = static_cast<std::int64_t>(value);
  if (key == "short_factor") scaling->short_factor.push_back(value);
  if (key == "long_factor") scaling->long_factor.push_back(value);
}

inline std::vector<RotaryGolden> ReadRotaryGolden() {
  std::vector<RotaryGolden> cases;
  std::ifstream file(EMBD_SOURCE_DIR "/tests/golden/rotary.txt");
  for (std::string line; std::getline(file, line);) {
    RotaryGolden golden{.line = line.substr(0, 60)};
    std::istringstream fields(line);
    std::string pairing;
    std::int64_t rotary_dim = 0;
    std::size_t count = 0;
    fields >> golden.parameters.scaling.type >> pairing >> golden.parameters.head_dim >> rotary_dim >>
        golden.parameters.theta >> golden.scaling_length >> golden.position >> count;
    golden.parameters.rotary_dim = rotary_dim;
    golden.parameters.pairing = pairing == "half" ? RotaryPairing::kHalf : RotaryPairing::kInterleaved;
    for (; count > 0; --count) {
      std::string key;
      double value = 0;
      fields >> key >> value;
      SetScalingField(key, value, &golden.parameters.scaling);
    }
    fields >> count;
    golden.inv_freq.resize(count);
    for (double& value : golden.inv_freq) fields >> value;
    fields >> golden.attention_factor;
    for (double value = 0; fields >> value;) golden.turned.push_back(value);
    cases.push_back(std::move(golden));
  }
  return cases;
}

}  // namespace embd::core

#endif  // EMBD_TESTS_UNIT_CORE_ROTARY_GOLDEN_H_

#ifndef EMBD_TESTS_UNIT_CORE_GRADIENT_GOLDEN_H_
#define EMBD_TESTS_UNIT_CORE_GRADIENT_GOLDEN_H_

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace embd::core {

/// One line of tests/golden/gradient.txt.
struct GradientGolden {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> elements;
};

/// The lines of the file by case and table.
inline std::map<std::pair<std::string, std::string>, GradientGolden> ReadGradientGolden() {
  std::map<std::pair<std::string, std::string>, GradientGolden> cases;
  std::ifstream file(EMBD_SOURCE_DIR "/tests/golden/gradient.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name, table;
    GradientGolden golden;
    fields >> name >> table >> golden.rows >> golden.columns;
    for (double element = 0; fields >> element;) golden.elements.push_back(element);
    cases[{name, table}] = std::move(golden);
  }
  return cases;
}

/// The elements that the script calls values(salt).
inline std::vector<float> GoldenValues(std::int64_t salt, std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(static_cast<double>((37 * i + salt) % 97 - 48) / 30.0));
  }
  return values;
}

}  // namespace embd::core

#endif  // EMBD_TESTS_UNIT_CORE_GRADIENT_GOLDEN_H_

#include "server/architectures/inferred_values.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "absl/strings/numbers.h"

namespace embd::architectures {

void InferredValues::Add(absl::string_view key, double value, absl::string_view source) {
  std::string text = absl::StrCat(value);  // six digits are easier to read than the shortest form, 5e+05
  double read_back = 0;
  if (!absl::SimpleAtod(text, &read_back) || read_back != value) {
    std::array<char, 32> digits = {};
    text.assign(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
  }
  Add(key, text, source);
}

void InferredValues::Forget(absl::string_view key) {
  const std::string below = absl::StrCat(key, ".");
  std::erase_if(values_,
                [&](const InferredValue& each) { return each.key == key || absl::StartsWith(each.key, below); });
}

}  // namespace embd::architectures

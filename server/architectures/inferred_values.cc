#include "server/architectures/inferred_values.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace embd::architectures {

void InferredValues::Add(absl::string_view key, double value, absl::string_view source) {
  std::array<char, 32> text = {};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  Add(key, absl::string_view(text.data(), static_cast<std::size_t>(end - text.data())), source);
}

void InferredValues::Forget(absl::string_view key) {
  const std::string below = absl::StrCat(key, ".");
  std::erase_if(values_,
                [&](const InferredValue& each) { return each.key == key || absl::StartsWith(each.key, below); });
}

}  // namespace embd::architectures

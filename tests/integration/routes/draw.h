#ifndef EMBD_TESTS_INTEGRATION_ROUTES_DRAW_H_
#define EMBD_TESTS_INTEGRATION_ROUTES_DRAW_H_

#include <cstdint>
#include <initializer_list>
#include <random>

namespace embd::testing {

/// Random choices of a seed.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}

  std::uint64_t Bits() { return bits_(); }

  /// From `first` to `last`, both of which may come.
  std::int64_t Integer(std::int64_t first, std::int64_t last) {
    return std::uniform_int_distribution<std::int64_t>(first, last)(bits_);
  }
  int Below(int end) { return static_cast<int>(Integer(0, end - 1)); }
  bool Chance(double probability) { return std::bernoulli_distribution(probability)(bits_); }

  template <typename Choices>
  auto Of(const Choices& choices) {
    return *(std::begin(choices) + Integer(0, static_cast<std::int64_t>(std::size(choices)) - 1));
  }
  template <typename T>
  T Of(std::initializer_list<T> choices) {
    return *(choices.begin() + Integer(0, static_cast<std::int64_t>(choices.size()) - 1));
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_ROUTES_DRAW_H_

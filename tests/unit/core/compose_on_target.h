#ifndef EMBD_TESTS_UNIT_CORE_COMPOSE_ON_TARGET_H_
#define EMBD_TESTS_UNIT_CORE_COMPOSE_ON_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/kernels/compose.h"
#include "server/core/kernels/simd_target.h"
#include "server/core/table/table.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

// What tests of Compose share: each case runs on every SIMD target of the CPU.
namespace embd::core {

inline constexpr ElementType kStoredTypes[] = {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16,
                                               ElementType::kFloat64};
inline constexpr ElementType kOutputTypes[] = {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16};
// Tail handling is where vector kernels break, so widths around every lane count are tried.
inline constexpr std::int64_t kWidths[] = {1, 2, 3, 7, 8, 15, 16, 17, 63, 64, 65, 70, 100, 768};

/// The rows that `compose` writes, `misalignment` bytes into a buffer in which it must touch nothing else.
inline std::vector<std::byte> RunPoisoned(void (*compose)(const ComposeArguments&), ComposeArguments arguments,
                                          std::size_t misalignment) {
  const std::size_t size = arguments.row_count * arguments.dim * ElementSize(arguments.output_type);
  constexpr std::size_t kGuard = 64;
  std::vector<std::byte> poisoned(size + misalignment + kGuard, std::byte{0xCD});
  arguments.out = poisoned.data() + misalignment;
  compose(arguments);
  for (std::size_t i = 0; i < misalignment; ++i) EXPECT_EQ(poisoned[i], std::byte{0xCD}) << "wrote before the output";
  for (std::size_t i = size + misalignment; i < poisoned.size(); ++i) {
    EXPECT_EQ(poisoned[i], std::byte{0xCD}) << "wrote behind the output";
  }
  return {poisoned.begin() + static_cast<std::ptrdiff_t>(misalignment),
          poisoned.begin() + static_cast<std::ptrdiff_t>(misalignment + size)};
}

/// Rows of a table, as a term.
class TableTerm {
 public:
  TableTerm(const Table& table, const std::vector<std::int64_t>& rows) : type_(table.element_type()) {
    for (const std::int64_t row : rows) rows_.push_back(table.row(row));
  }
  Term term() const { return {rows_.data(), type_}; }

 private:
  ElementType type_;
  std::vector<const std::byte*> rows_;
};

/// A case for each SIMD target, which is the parameter.
class ComposeOnTarget : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_THAT(CapSimdTarget(GetParam()), testing::IsOk()); }
  void TearDown() override { ASSERT_THAT(CapSimdTarget(SupportedBest()), testing::IsOk()); }
  static std::string SupportedBest() { return "avx3"; }
};

/// A table of one row that holds every pattern of a 16-bit type.
inline Table AllPatterns(ElementType type) {
  std::vector<std::uint16_t> elements(65'536);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<std::uint16_t>(i);
  return testing::TableOf(1, 65'536, type, elements);
}

}  // namespace embd::core

#endif  // EMBD_TESTS_UNIT_CORE_COMPOSE_ON_TARGET_H_

#include "server/core/diagnostics/fixed_order_dot.h"

#include <cstddef>
#include <vector>

#include "gmock/gmock.h"

namespace embd::core {
namespace {

// The sum of ten ones of which the one at `plus` is 1e16 and the one at `minus` is -1e16. Next to 1e16 doubles are 2
// apart and a 1 that is added to it is lost, so the result counts the ones that meet neither before they meet each
// other.
double SumOfOnesWith(std::size_t plus, std::size_t minus) {
  std::vector<double> values(10, 1.0);
  values[plus] = 1e16;
  values[minus] = -1e16;
  return FixedOrderDot(values, std::vector<double>(10, 1.0));
}

TEST(FixedOrderDot, AddsInTheDocumentedOrder) {
  EXPECT_EQ(SumOfOnesWith(0, 8), 8.0) << "one sum holds both";
  EXPECT_EQ(SumOfOnesWith(0, 4), 7.0) << "s0 + s4: element 8 is lost";
  EXPECT_EQ(SumOfOnesWith(0, 2), 5.0) << "(s0 + s4) + (s2 + s6): elements 8, 4 and 6 are lost";
  EXPECT_EQ(SumOfOnesWith(0, 1), 4.0)
      << "the last addition: elements 8, 4, 9 and 5 are lost, s2 + s6 and s3 + s7 are not";
}

TEST(FixedOrderDot, OfNothingIsZero) { EXPECT_EQ(FixedOrderDot({}, {}), 0.0); }

}  // namespace
}  // namespace embd::core

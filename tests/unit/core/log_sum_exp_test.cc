#include "server/core/diagnostics/log_sum_exp.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/diagnostics/portable_exp.h"

namespace embd::core {
namespace {

using ::testing::IsNan;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double LogSumExpOf(const std::vector<double>& values) {
  LogSumExp sum;
  sum.Add(values);
  return sum.Value();
}

TEST(PortableExp, IsWithinTwoUlp) {
  for (double x = 0.0; x > -708.0; x -= 0.0317) {
    const auto exact = std::exp(static_cast<long double>(x));
    EXPECT_LE(std::fabs(static_cast<double>((PortableExp(x) - exact) / exact)), 2 * 0x1p-52) << x;
  }
}

TEST(PortableExp, EndsAtZeroAndKeepsNan) {
  EXPECT_EQ(PortableExp(0.0), 1.0);
  EXPECT_EQ(PortableExp(-709.0), 0.0);
  EXPECT_EQ(PortableExp(-kInfinity), 0.0);
  EXPECT_THAT(PortableExp(kNan), IsNan());
}

TEST(PortableTanh, IsWithinItsBound) {
  for (const double size : {0.0, 1e-300, 1e-9, 5e-4, 1e-3, 1.1e-3, 0.1, 0.7, 3.0, 20.0, 800.0, kInfinity}) {
    for (const double x : {size, -size}) EXPECT_NEAR(PortableTanh(x), std::tanh(x), 1e-12 * std::fabs(std::tanh(x)));
  }
  EXPECT_THAT(PortableTanh(kNan), IsNan());
}

TEST(LogSumExp, IsThatOfTheDefinition) {
  EXPECT_NEAR(LogSumExpOf({0.5, -1.0, 2.0}), std::log(std::exp(0.5) + std::exp(-1.0) + std::exp(2.0)), 1e-15);
}

TEST(LogSumExp, DoesNotOverflow) {
  EXPECT_NEAR(LogSumExpOf({-1000.0, 1000.0, 1000.0}), 1000.0 + std::log(2.0), 1e-12);
  EXPECT_NEAR(LogSumExpOf({-1000.0, -1000.0}), -1000.0 + std::log(2.0), 1e-12);
}

TEST(LogSumExp, PortionsAddUp) {
  LogSumExp first;
  first.Add(std::vector<double>{1.0, 5.0});
  LogSumExp second;
  second.Add(std::vector<double>{7.0});
  second.Add(std::vector<double>{2.0});
  first.Add(second);
  first.Add(LogSumExp());

  EXPECT_NEAR(first.Value(), LogSumExpOf({1.0, 5.0, 7.0, 2.0}), 1e-14);
}

TEST(LogSumExp, TellsWhatIsNotFinite) {
  EXPECT_EQ(LogSumExpOf({}), -kInfinity);
  EXPECT_EQ(LogSumExpOf({-kInfinity}), -kInfinity);
  EXPECT_EQ(LogSumExpOf({-kInfinity, 3.0}), 3.0);
  EXPECT_EQ(LogSumExpOf({1.0, kInfinity}), kInfinity);
  EXPECT_THAT(LogSumExpOf({1.0, kNan, kInfinity}), IsNan());
}

}  // namespace
}  // namespace embd::core

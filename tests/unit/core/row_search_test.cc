#include "server/core/diagnostics/row_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/diagnostics/fixed_order_dot.h"
#include "server/core/kernels/simd_target.h"
#include "server/core/tensor/decode.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::MakeTable;
using ::embd::testing::SmallTable;

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16,
                                  ElementType::kFloat64};
constexpr RowScore kScores[] = {RowScore::kCosine, RowScore::kDot, RowScore::kDistance};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Pieces on three threads, in turns.
absl::Status ThreeThreads(std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 3; ++t) {
    threads.emplace_back([t, count, piece] {
      for (std::int64_t i = t; i < count; i += 3) piece(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return absl::OkStatus();
}

std::vector<double> Doubles(const std::byte* from, ElementType type, std::int64_t dim) {
  std::vector<double> values(static_cast<std::size_t>(dim));
  DecodeToDouble(from, type, values);
  return values;
}

double ScoreOf(const RowSearch& search, std::vector<double> row, const std::vector<double>& query, std::size_t index) {
  const double dot = FixedOrderDot(row, query);
  if (search.score == RowScore::kDot)
    return search.scale * dot + (search.bias.empty() ? 0.0 : double{search.bias[index]});
  if (search.score == RowScore::kCosine) {
    const double norms =
        std::max(std::sqrt(FixedOrderDot(row, row)), 1e-8) * std::max(std::sqrt(FixedOrderDot(query, query)), 1e-8);
    return std::clamp(dot / norms, -1.0, 1.0);
  }
  for (std::size_t i = 0; i < row.size(); ++i) row[i] -= query[i];
  return std::sqrt(FixedOrderDot(row, row));
}

using Found = std::vector<std::vector<std::pair<std::int64_t, double>>>;

// Every row in double, all sorted.
Found SearchNaively(const Table& table, const RowSearch& search) {
  Found found;
  const auto dim = static_cast<std::size_t>(table.dim());
  for (std::size_t q = 0; q * dim < search.queries.size(); ++q) {
    const std::vector<double> query(search.queries.begin() + static_cast<std::ptrdiff_t>(q * dim),
                                    search.queries.begin() + static_cast<std::ptrdiff_t>((q + 1) * dim));
    std::vector<std::pair<std::int64_t, double>> rows;
    for (std::int64_t r = 0; r < table.rows(); ++r) {
      if (!search.left_out.empty() && std::ranges::count(search.left_out[q], r) > 0) continue;
      rows.emplace_back(r, ScoreOf(search, Doubles(table.row(r), table.element_type(), table.dim()), query,
                                   static_cast<std::size_t>(r)));
    }
    const double sign = search.score == RowScore::kDistance ? -1.0 : 1.0;
    std::ranges::stable_sort(rows, [sign](const auto& a, const auto& b) {
      return std::isnan(a.second) || std::isnan(b.second) ? !std::isnan(a.second) && std::isnan(b.second)
                                                          : sign * a.second > sign * b.second;
    });
    rows.resize(std::min(rows.size(), static_cast<std::size_t>(search.top_k)));
    found.push_back(std::move(rows));
  }
  return found;
}

// NaN as a number that equals itself.
double Comparable(double score) { return std::isnan(score) ? 12345.0 : score; }

void ExpectNaive(const Table& table, const RowSearch& search, const ScoreVisitor& visit = nullptr) {
  const auto result = SearchRows(table, search, ThreeThreads, visit);
  ASSERT_THAT(result, IsOk());
  Found found;
  for (const std::vector<ScoredRow>& rows : *result) {
    auto& pairs = found.emplace_back();
    for (const ScoredRow& row : rows) pairs.emplace_back(row.row, Comparable(row.score));
  }
  Found expected = SearchNaively(table, search);
  for (auto& rows : expected) {
    for (auto& row : rows) row.second = Comparable(row.second);
  }
  EXPECT_EQ(found, expected);
}

std::vector<float> RandomFloats(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(static_cast<double>(random() >> 11) * 0x1p-52 - 1.0);
  return values;
}

TEST(RowSearch, EqualsASearchInDoubleOfAnyTypeScoreAndWidth) {
  for (const ElementType type : kTypes) {
    for (const std::int64_t dim : {1, 3, 16, 33, 100}) {
      const Table table = SmallTable(dim == 33 ? 9001 : 301, dim, type, 5);
      for (const std::size_t queries : {1u, 6u}) {
        const std::vector<float> vectors = RandomFloats(queries * static_cast<std::size_t>(dim), 7);
        for (const RowScore score : kScores) {
          SCOPED_TRACE(absl::StrCat(ElementTypeName(type), ", dim ", dim, ", queries ", queries, ", score ",
                                    static_cast<int>(score)));
          ExpectNaive(table, {.queries = vectors, .score = score, .top_k = 11});
        }
      }
    }
  }
}

// Rows that float32 cannot tell apart, or that are none of the ordinary.
TEST(RowSearch, EqualsASearchInDoubleWhereRowsAreHardToTellApart) {
  constexpr std::int64_t kDim = 24;
  std::mt19937_64 random(11);
  std::vector<std::vector<double>> rows;
  for (int r = 0; r < 700; ++r) {
    std::vector<double>& row = rows.emplace_back(kDim, 1.0);
    switch (r % 7) {
      case 0: row.assign(kDim, 0.0); break;
      case 1: row[0] = 1.0 + 0x1p-22 * static_cast<double>(random() % 4); break;  // all but parallel
      case 2: row.assign(kDim, static_cast<double>(r)); break;                    // parallel
      case 3: row[3] = r % 2 == 0 ? kNan : std::numeric_limits<double>::infinity(); break;
      case 4: row.assign(kDim, 1e-12); break;  // shorter than the smallest norm
      case 5: row.assign(kDim, -3e38); break;  // squares overflow in float32
      default:
        for (double& value : row) value = static_cast<double>(random() % 3);
    }
  }
  std::vector<float> queries = RandomFloats(5 * kDim, 3);
  std::fill_n(queries.begin(), kDim, 0.0f);
  std::fill_n(queries.begin() + kDim, kDim, 1.0f);
  std::fill_n(queries.begin() + 2 * kDim, kDim, 2e38f);
  queries[3 * kDim] = std::numeric_limits<float>::quiet_NaN();
  for (const ElementType type : kTypes) {
    const Table table = MakeTable(rows, type);
    for (const RowScore score : kScores) {
      for (const std::int64_t top_k : {1, 10, 650, 1024}) {
        SCOPED_TRACE(absl::StrCat(ElementTypeName(type), ", score ", static_cast<int>(score), ", top ", top_k));
        ExpectNaive(table, {.queries = queries, .score = score, .top_k = top_k});
      }
    }
  }
}

// Rows of one set of numbers in many orders, which add up to nothing; each row is a little better than the one before.
// In float32 the order of addition makes more of a difference.
TEST(RowSearch, DoubleDecidesWhereFloat32SumsDifferByTheirRounding) {
  const std::vector<float> numbers = RandomFloats(20, 41);
  std::vector<double> row(numbers.begin(), numbers.end());
  for (const float number : numbers) row.push_back(-double{number});
  std::mt19937_64 random(42);
  std::vector<std::vector<double>> rows;
  for (int r = 0; r < 1500; ++r) {
    std::ranges::shuffle(row, random);
    rows.push_back(row);
    rows.back()[0] += 1e-12 * r;
  }
  const Table table = MakeTable(rows, ElementType::kFloat64);
  const std::vector<float> ones(40, 1.0f);
  for (const RowScore score : kScores) ExpectNaive(table, {.queries = ones, .score = score, .top_k = 20});
}

// The row that float32 has no numbers for comes after others, so that there is something to be better than.
TEST(RowSearch, DoubleDecidesWhereFloat32SumsOverflow) {
  std::vector<std::vector<double>> rows(600, std::vector<double>(16, 1.0));
  std::vector<double>& last = rows.back();
  last[0] = last[8] = -1e17;
  last[1] = last[2] = last[4] = 1e17;
  const Table table = MakeTable(rows);
  const std::vector<float> query(16, 2e21f);
  const auto found = SearchRows(table, {.queries = query, .score = RowScore::kDot, .top_k = 1}, OneThread);
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->at(0).at(0).row, 599);
}

TEST(RowSearch, DoubleDecidesWhereFloat32ProductsVanish) {
  std::vector<std::vector<double>> rows;
  for (int r = 0; r < 1500; ++r) rows.emplace_back(48, r < 1000 ? 7.02e-21 : 7.03e-21);
  const Table table = MakeTable(rows, ElementType::kFloat64);
  const std::vector<float> query(48, 1e-23f);
  for (const RowScore score : kScores) ExpectNaive(table, {.queries = query, .score = score, .top_k = 5});
}

// Rows so short that they change the query's elements by half a unit in the last place of a double and a little more.
TEST(RowSearch, DoubleDecidesWhereDistancesDifferByTheirRounding) {
  std::vector<std::vector<double>> rows;
  for (int r = 0; r < 1500; ++r) rows.emplace_back(8, 0x1p-44 * (r / 256 + 0.51));
  const Table table = MakeTable(rows, ElementType::kFloat64);
  std::vector<float> queries = RandomFloats(64 * 8, 51);
  for (float& value : queries) value = 384.0f + 100.0f * value;
  ExpectNaive(table, {.queries = queries, .score = RowScore::kDistance, .top_k = 2});
}

TEST(RowSearch, RowsOfFloat64AreNotRounded) {
  const Table table = MakeTable({{1.0, 0.0}, {1.0 + 1e-12, 0.0}, {1.0, 1e-12}, {1e200, 0.0}}, ElementType::kFloat64);
  const std::vector<float> query = {1.0f, 1.0f};
  for (const RowScore score : kScores) ExpectNaive(table, {.queries = query, .score = score, .top_k = 4});
}

TEST(RowSearch, ScaleAndBiasCount) {
  const Table table = SmallTable(1000, 20, ElementType::kBFloat16, 9);
  const std::vector<float> queries = RandomFloats(3 * 20, 21);
  std::vector<float> bias = RandomFloats(1000, 22);
  bias[5] = std::numeric_limits<float>::quiet_NaN();
  bias[6] = -std::numeric_limits<float>::infinity();
  bias[7] = std::numeric_limits<float>::infinity();
  for (const double scale : {1.0, 0.125, -3.0, 0.0, 1e30, 1e300, 1e-42}) {
    SCOPED_TRACE(scale);
    ExpectNaive(table, {.queries = queries, .score = RowScore::kDot, .top_k = 17, .scale = scale, .bias = bias});
  }
}

TEST(RowSearch, RowsLeftOutAreNotFoundByTheirQuery) {
  const Table table = MakeTable({{1, 0}, {0, 1}, {1, 1}});
  const std::vector<float> queries = {1, 0, 1, 0};
  const std::vector<std::vector<std::int64_t>> left_out = {{0, 2}, {}};
  ExpectNaive(table, {.queries = queries, .score = RowScore::kDot, .top_k = 2, .left_out = left_out});
}

// The scores that a visitor gets.
std::vector<float> Visit(const Table& table, const RowSearch& search) {
  const auto rows = static_cast<std::size_t>(table.rows());
  std::vector<float> scores(search.queries.size() / static_cast<std::size_t>(table.dim()) * rows);
  EXPECT_THAT(SearchRows(table, search, ThreeThreads,
                         [&](const ScoreBlock& block) {
                           std::ranges::copy(block.scores,
                                             scores.begin() + static_cast<std::ptrdiff_t>(
                                                                  static_cast<std::size_t>(block.query) * rows +
                                                                  static_cast<std::size_t>(block.first_row)));
                         }),
              IsOk());
  return scores;
}

TEST(RowSearch, VisitsEveryScoreWithTheSameBitsOnEveryTargetAndInAnyCompany) {
  const Table table = SmallTable(9001, 37, ElementType::kFloat16, 31);
  const std::vector<float> queries = RandomFloats(6 * 37, 32);
  const std::vector<float> bias = RandomFloats(9001, 33);
  const RowSearch search = {.queries = queries, .score = RowScore::kDot, .scale = 0.5, .bias = bias};
  const std::vector<float> scores = Visit(table, search);
  for (const std::size_t i : {std::size_t{0}, std::size_t{9000}, std::size_t{5 * 9001 + 4321}}) {
    const std::vector<double> row = Doubles(table.row(static_cast<std::int64_t>(i % 9001)), ElementType::kFloat16, 37);
    double dot = 0;
    for (std::size_t d = 0; d < 37; ++d) dot += row[d] * double{queries[i / 9001 * 37 + d]};
    EXPECT_NEAR(scores[i], 0.5 * dot + double{bias[i % 9001]}, 1e-5);
  }

  for (const std::string& target : SupportedSimdTargets()) {
    ASSERT_THAT(CapSimdTarget(target), IsOk());
    EXPECT_EQ(Visit(table, search), scores) << target;
  }
  ASSERT_THAT(CapSimdTarget("avx3"), IsOk());
  RowSearch last = search;
  last.queries = last.queries.subspan(5 * 37);
  EXPECT_EQ(Visit(table, last), std::vector<float>(scores.end() - 9001, scores.end()));
}

TEST(RowSearch, EndsWithWhatTheSharingSays) {
  const Table table = MakeTable({{1, 0}});
  const std::vector<float> query = {1, 0};
  const auto result = SearchRows(table, {.queries = query}, [](std::int64_t, absl::FunctionRef<void(std::int64_t)>) {
    return absl::CancelledError("gone");
  });
  EXPECT_EQ(result.status(), absl::CancelledError("gone"));
}

}  // namespace
}  // namespace embd::core

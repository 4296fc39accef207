#include "server/core/table/seeded_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/table/checksum.h"
#include "server/core/table/normal.h"
#include "server/core/table/philox.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::FloatsOf;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

constexpr std::uint64_t kDemoSeed = 11;
constexpr double kDemoStd = 0.02;

absl::StatusOr<Table> DemoTable(std::int64_t rows, std::int64_t dim, SeedStream stream, int threads = 0) {
  return SeededTable(rows, dim, 0.0, kDemoStd, kDemoSeed, stream, threads);
}

// Calls `visit` with the rest of each line of the golden file that begins with `kind`; returns how many there were.
template <typename Visitor>
int ForGoldenLines(const std::string& kind, Visitor visit) {
  std::ifstream file(EMBD_SOURCE_DIR "/tests/golden/seeded.txt");
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string first;
    fields >> first;
    if (first != kind) continue;
    visit(fields);
    ++count;
  }
  return count;
}

TEST(SeededTable, NormalsBeforeRoundingEqualTheGoldenOnes) {
  const int lines = ForGoldenLines("normals", [](std::istringstream& fields) {
    std::uint64_t seed = 0;
    std::uint64_t block = 0;
    std::uint32_t stream = 0;
    double golden[2];
    fields >> seed >> stream >> block >> golden[0] >> golden[1];
    SCOPED_TRACE(fields.str());
    ASSERT_FALSE(fields.fail());

    const auto normals = StandardNormals(
        Philox4x32({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), stream, 0},
                   {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}));

    EXPECT_NEAR(normals[0], golden[0], 1e-12 * std::fabs(golden[0]));
    EXPECT_NEAR(normals[1], golden[1], 1e-12 * std::fabs(golden[1]));
  });
  EXPECT_EQ(lines, 38);
}

TEST(SeededTable, DemoTablesHaveTheGoldenBitsAndChecksums) {
  std::map<std::uint32_t, std::vector<float>> elements;
  const int tables = ForGoldenLines("sha256", [&elements](std::istringstream& fields) {
    std::uint32_t stream = 0;
    std::int64_t rows = 0;
    std::int64_t dim = 0;
    std::string checksum;
    fields >> stream >> rows >> dim >> checksum;
    SCOPED_TRACE(fields.str());

    ASSERT_OK_AND_ASSIGN(const Table table, DemoTable(rows, dim, static_cast<SeedStream>(stream)));

    EXPECT_EQ(TableChecksum(table), checksum);
    elements[stream] = FloatsOf(table);
  });
  EXPECT_EQ(tables, 2);

  const int floats = ForGoldenLines("float", [&elements](std::istringstream& fields) {
    std::uint32_t stream = 0;
    std::size_t element = 0;
    std::uint32_t bits = 0;
    fields >> stream >> element >> std::hex >> bits;
    SCOPED_TRACE(fields.str());

    EXPECT_EQ(std::bit_cast<std::uint32_t>(elements.at(stream).at(element)), bits);
  });
  EXPECT_EQ(floats, 36);
}

TEST(SeededTable, TheSameBytesForAnyNumberOfThreads) {
  // An odd number of elements, so that the last block is half used.
  ASSERT_OK_AND_ASSIGN(const Table one, DemoTable(1001, 333, SeedStream::kToken, 1));
  for (const int threads : {0, 2, 3, 7, 16}) {
    SCOPED_TRACE(threads);
    ASSERT_OK_AND_ASSIGN(const Table many, DemoTable(1001, 333, SeedStream::kToken, threads));

    EXPECT_TRUE(std::ranges::equal(many.bytes(), one.bytes()));
  }
}

TEST(SeededTable, MoreThreadsThanBlocksIsNoProblem) {
  ASSERT_OK_AND_ASSIGN(const Table one, DemoTable(1, 3, SeedStream::kToken, 1));
  ASSERT_OK_AND_ASSIGN(const Table many, DemoTable(1, 3, SeedStream::kToken, 9));

  EXPECT_EQ(FloatsOf(many), FloatsOf(one));
}

TEST(SeededTable, ALargerTableBeginsWithTheSmallerOne) {
  ASSERT_OK_AND_ASSIGN(const Table small, DemoTable(5, 7, SeedStream::kPosition));
  ASSERT_OK_AND_ASSIGN(const Table large, DemoTable(6, 7, SeedStream::kPosition));

  std::vector<float> beginning = FloatsOf(large);
  beginning.resize(35);
  EXPECT_EQ(FloatsOf(small), beginning);
}

TEST(SeededTable, StreamsAndSeedsHaveNoElementInCommon) {
  ASSERT_OK_AND_ASSIGN(const Table token, SeededTable(16, 64, 0, 1, 11, SeedStream::kToken));
  ASSERT_OK_AND_ASSIGN(const Table position, SeededTable(16, 64, 0, 1, 11, SeedStream::kPosition));
  ASSERT_OK_AND_ASSIGN(const Table low_seed, SeededTable(16, 64, 0, 1, 12, SeedStream::kToken));
  ASSERT_OK_AND_ASSIGN(const Table high_seed, SeededTable(16, 64, 0, 1, 11 + (1ull << 32), SeedStream::kToken));

  const std::vector<float> values = FloatsOf(token);
  for (const Table* other : {&position, &low_seed, &high_seed}) {
    const std::vector<float> others = FloatsOf(*other);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NE(values[i], others[i]) << i;
  }
}

TEST(SeededTable, AMillionValuesLookNormal) {
  ASSERT_OK_AND_ASSIGN(const Table table, SeededTable(1000, 1000, 3.0, 0.5, 42, SeedStream::kToken));

  double sums[5] = {};
  for (const float value : FloatsOf(table)) {
    const double z = (static_cast<double>(value) - 3.0) / 0.5;
    for (int power = 1; power <= 4; ++power) sums[power] += std::pow(z, power);
  }

  // Five standard errors of each moment of a million standard normal values.
  EXPECT_NEAR(sums[1] / 1e6, 0.0, 5 * 1e-3);
  EXPECT_NEAR(sums[2] / 1e6, 1.0, 5 * std::sqrt(2.0) * 1e-3);
  EXPECT_NEAR(sums[3] / 1e6, 0.0, 5 * std::sqrt(15.0) * 1e-3);
  EXPECT_NEAR(sums[4] / 1e6, 3.0, 5 * std::sqrt(96.0) * 1e-3);
}

TEST(SeededTable, StdZeroGivesTheMean) {
  ASSERT_OK_AND_ASSIGN(const Table table, SeededTable(2, 3, 0.25, 0.0, 1, SeedStream::kToken));

  EXPECT_THAT(FloatsOf(table), ::testing::Each(0.25f));
}

TEST(SeededTable, RefusesWhatIsNoDistribution) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double mean : {infinity, -infinity, nan}) {
    EXPECT_THAT(SeededTable(2, 2, mean, 1, 1, SeedStream::kToken),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("mean must be finite")));
  }
  for (const double std : {-0.02, infinity, nan}) {
    EXPECT_THAT(SeededTable(2, 2, 0, std, 1, SeedStream::kToken),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("std must be finite and >= 0")));
  }
  EXPECT_THAT(SeededTable(2, 2, 0, 1e38, 1, SeedStream::kToken),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("exceed float32")));
}

TEST(SeededTable, RefusesShapesThatAreNone) {
  EXPECT_THAT(SeededTable(0, 2, 0, 1, 1, SeedStream::kToken), ReasonIs("INVALID_TABLE"));
  EXPECT_THAT(SeededTable(2, -1, 0, 1, 1, SeedStream::kToken), ReasonIs("INVALID_TABLE"));
  EXPECT_THAT(SeededTable(1ll << 40, 1ll << 40, 0, 1, 1, SeedStream::kToken), ReasonIs("INVALID_TABLE"));
  EXPECT_THAT(SeededTable(1ll << 40, 1ll << 18, 0, 1, 1, SeedStream::kToken), ReasonIs("OUT_OF_MEMORY"));
}

}  // namespace
}  // namespace embd::core

#include <cmath>
#include <limits>
#include <memory>

#include "embd/client/client.h"
#include "embd/client/fake_transport.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::client {
namespace {

using ::embd::testing::ReasonIs;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

class FakeStatistics : public ::testing::Test {
 protected:
  FakeStatistics() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    fake_->AddModel({.name = "m", .embedding_dim = 2, .token = {3, 4, 0, 0, 3, 4, 1, nan}, .position = {1, 0, 0, 1}});
    fake_->AddModel({.name = "bare", .embedding_dim = 1, .token = {7}});
  }

  std::shared_ptr<FakeTransport> fake_ = std::make_shared<FakeTransport>();
  Client client_ = Client(fake_);
};

TEST_F(FakeStatistics, AreThoseOfTheTable) {
  ASSERT_OK_AND_ASSIGN(const TableStatistics statistics, client_.TableStatistics({.model = "m", .histogram_bins = 2}));

  EXPECT_EQ(statistics.table, TableKind::kToken);
  EXPECT_EQ(statistics.rows, 4);
  EXPECT_EQ(statistics.parameter_count, 8);
  EXPECT_DOUBLE_EQ(statistics.mean, 15.0 / 7);
  EXPECT_THAT(statistics.std, DoubleNear(std::sqrt(51.0 / 7 - 225.0 / 49), 1e-12));
  EXPECT_EQ(statistics.max, 4.0);
  EXPECT_DOUBLE_EQ(statistics.norm_mean, 10.0 / 3);
  EXPECT_THAT(statistics.first_bad_cell, ElementsAre(3, 1));
  EXPECT_THAT(statistics.bad_rows, ElementsAre(3));
  EXPECT_THAT(statistics.first_zero_rows, ElementsAre(1));
  EXPECT_THAT(statistics.first_duplicate_rows, ElementsAre(2));
  EXPECT_THAT(statistics.duplicates_of, ElementsAre(0));
  EXPECT_THAT(statistics.histogram_edges, ElementsAre(0, 2.5, 5));
  EXPECT_THAT(statistics.histogram_counts, ElementsAre(1, 2));
}

TEST_F(FakeStatistics, CosinesAreThoseOfThePairs) {
  ASSERT_OK_AND_ASSIGN(const CosineSimilarities window, client_.CosineSimilarities({.model = "m"}));
  ASSERT_OK_AND_ASSIGN(const CosineSimilarities rows,
                       client_.CosineSimilarities({.model = "m", .table = TableKind::kToken, .row_ids = {1, 0}}));

  EXPECT_EQ(window.table, TableKind::kPosition);
  EXPECT_THAT(window.row_ids, ElementsAre(0, 1));
  EXPECT_THAT(window.cosines, ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(rows.cosines, ElementsAre(0, 0, 0, 1));
  EXPECT_EQ(client_.CosineSimilarities({.model = "bare"})->table, TableKind::kToken);
}

TEST_F(FakeStatistics, RefuseWhatAServerRefuses) {
  EXPECT_THAT(client_.TableStatistics({.model = "m", .histogram_bins = -1}), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.TableStatistics({.model = "bare", .table = TableKind::kPosition}), ReasonIs("NO_POSITION_TABLE"));
  EXPECT_THAT(client_.CosineSimilarities({.model = "m", .first_row = 2}), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.CosineSimilarities({.model = "m", .row_count = 3}), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.CosineSimilarities({.model = "m", .row_count = 1, .row_ids = {0}}), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.CosineSimilarities({.model = "m", .row_ids = {2}}), ReasonIs("ID_OUT_OF_RANGE"));
}

}  // namespace
}  // namespace embd::client

// What a server says about the numbers of its tables.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/table/checksum.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd {
namespace {

using client::TableKind;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// "planted" comes from an .npy file with everything wrong that a table can have; "small" has learned positions.
class TableStatistics : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (std::int64_t row = 0; row < 40; ++row) {
      for (std::int64_t d = 0; d < 3; ++d) values_.push_back(static_cast<float>(3 * row + d));
    }
    const auto plant = [](std::size_t row, std::vector<float> with) {
      std::copy(with.begin(), with.end(), values_.begin() + static_cast<std::ptrdiff_t>(3 * row));
    };
    plant(5, {1, kNan, kNan});
    plant(9, {-kInfinity, 0, 0});
    plant(12, {0, -0.0f, 0});
    plant(20, {0, 0, 0});
    plant(17, {9, 10, 11});  // as row 3
    plant(30, {9, 10, 11});
    folder_ = new formats::ScratchFolder;
    const std::string file =
        folder_->Write("t.npy", formats::NpyFile(formats::NpyDict("'<f4'", "(40, 3)"), formats::Raw(values_)));
    config::ServerConfig config;
    config.models = {{.name = "planted", .token = config::TableFile{.path = file, .nan = config::NanPolicy::kWarn}},
                     testing::SmallModel("small", 50, 4, 8)};
    served_ = new testing::ServedModels(config);
    client_ = new client::Client(served_->TcpClient());
  }
  static void TearDownTestSuite() {
    delete client_;
    delete served_;
    delete folder_;
    values_.clear();
  }

  static std::vector<float> values_;
  static formats::ScratchFolder* folder_;
  static testing::ServedModels* served_;
  static client::Client* client_;
};
std::vector<float> TableStatistics::values_;
formats::ScratchFolder* TableStatistics::folder_ = nullptr;
testing::ServedModels* TableStatistics::served_ = nullptr;
client::Client* TableStatistics::client_ = nullptr;

TEST_F(TableStatistics, NameWhatIsWrongWithATable) {
  const auto statistics = client_->TableStatistics({.model = "planted"});

  ASSERT_THAT(statistics, IsOk());
  EXPECT_EQ(statistics->nan_count, 2);
  EXPECT_EQ(statistics->inf_count, 1);
  EXPECT_THAT(statistics->first_bad_cell, ElementsAre(5, 1));
  EXPECT_THAT(statistics->bad_rows, ElementsAre(5, 9));
  EXPECT_EQ(statistics->zero_rows, 2);
  EXPECT_THAT(statistics->first_zero_rows, ElementsAre(12, 20));
  EXPECT_EQ(statistics->duplicate_rows, 2);
  EXPECT_THAT(statistics->first_duplicate_rows, ElementsAre(17, 30));
  EXPECT_THAT(statistics->duplicates_of, ElementsAre(3, 3));
}

TEST_F(TableStatistics, AreThoseOfTheFiniteElementsAndRows) {
  const auto statistics = client_->TableStatistics({.model = "planted", .histogram_bins = 4});

  ASSERT_THAT(statistics, IsOk());
  double count = 0, sum = 0, squares = 0, norms = 0, least = kInfinity, most = 0;
  for (const float value : values_) {
    if (std::isfinite(value)) count += 1, sum += value;
  }
  for (const float value : values_) {
    if (std::isfinite(value)) squares += (value - sum / count) * (value - sum / count);
  }
  std::vector<std::int64_t> counts(4);
  for (std::size_t row = 0; row < 40; ++row) {
    const double norm =
        std::hypot(double{values_[3 * row]}, double{values_[3 * row + 1]}, double{values_[3 * row + 2]});
    if (!std::isfinite(norm)) continue;
    norms += norm;
    least = std::min(least, norm);
    most = std::max(most, norm);
  }
  for (std::size_t row = 0; row < 40; ++row) {
    const double norm =
        std::hypot(double{values_[3 * row]}, double{values_[3 * row + 1]}, double{values_[3 * row + 2]});
    if (std::isfinite(norm)) ++counts[norm == most ? 3 : static_cast<std::size_t>((norm - least) / (most - least) * 4)];
  }
  EXPECT_NEAR(statistics->mean, sum / count, 1e-12);
  EXPECT_NEAR(statistics->std, std::sqrt(squares / count), 1e-12);
  EXPECT_EQ(statistics->min, 0.0);
  EXPECT_EQ(statistics->max, 119.0);
  EXPECT_NEAR(statistics->norm_mean, norms / 38, 1e-12);
  EXPECT_EQ(statistics->norm_min, 0.0);
  EXPECT_NEAR(statistics->norm_max, most, 1e-12);
  ASSERT_THAT(statistics->histogram_edges, SizeIs(5));
  EXPECT_EQ(statistics->histogram_edges.back(), statistics->norm_max);
  EXPECT_THAT(statistics->histogram_counts, ElementsAreArray(counts));
}

TEST_F(TableStatistics, DescribeTheTableThatWasLookedAt) {
  const auto token = client_->TableStatistics({.model = "planted"});
  const auto position = client_->TableStatistics({.model = "small", .table = TableKind::kPosition});

  ASSERT_THAT(token, IsOk());
  EXPECT_EQ(token->model, "planted");
  EXPECT_EQ(token->model_version, "1");
  EXPECT_EQ(token->table, TableKind::kToken);
  EXPECT_EQ(token->rows, 40);
  EXPECT_EQ(token->embedding_dim, 3);
  EXPECT_EQ(token->data_type, client::DataType::kFloat32);
  EXPECT_EQ(token->parameter_count, 120);
  EXPECT_EQ(token->byte_size, 480);
  EXPECT_EQ(token->checksum, core::Sha256Hex(std::as_bytes(std::span(values_))));
  EXPECT_THAT(token->histogram_counts, SizeIs(20));
  ASSERT_THAT(position, IsOk());
  EXPECT_EQ(position->table, TableKind::kPosition);
  EXPECT_EQ(position->rows, 8);
  EXPECT_THAT(position->first_bad_cell, IsEmpty());
}

TEST_F(TableStatistics, RefuseWhatIsNotThere) {
  EXPECT_THAT(client_->TableStatistics({.model = "planted", .histogram_bins = 1025}),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("histogram_bins = 1025")),
                    ReasonIs("INVALID_OPTION")));
  EXPECT_THAT(client_->TableStatistics({.model = "x"}), ReasonIs("MODEL_NOT_FOUND"));
  EXPECT_THAT(client_->TableStatistics({.model = "planted", .table = TableKind::kPosition}),
              ReasonIs("NO_POSITION_TABLE"));
  EXPECT_THAT(client_->TableStatistics({.model = "planted", .table = TableKind::kOutput}), ReasonIs("NO_SUCH_TABLE"));
}

TEST_F(TableStatistics, CosinesAreThoseOfThePairs) {
  const auto result = client_->CosineSimilarities({.model = "planted", .row_ids = {1, 3, 12}});

  ASSERT_THAT(result, IsOk());
  const auto cosine = static_cast<float>((3 * 9 + 4 * 10 + 5 * 11) / std::sqrt(50.0 * 302.0));
  EXPECT_EQ(result->model, "planted");
  EXPECT_EQ(result->table, TableKind::kToken) << "there are no positions";
  EXPECT_THAT(result->row_ids, ElementsAre(1, 3, 12));
  EXPECT_THAT(result->cosines, ElementsAre(1.0f, cosine, 0.0f, cosine, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f));
}

TEST_F(TableStatistics, CosinesAreOfPositionsWhereThereAreSome) {
  const auto window = client_->CosineSimilarities({.model = "small", .first_row = 2});

  ASSERT_THAT(window, IsOk());
  EXPECT_EQ(window->table, TableKind::kPosition);
  EXPECT_THAT(window->row_ids, ElementsAre(2, 3, 4, 5, 6, 7));
  EXPECT_THAT(client_->CosineSimilarities({.model = "small", .row_ids = {8}}), ReasonIs("ID_OUT_OF_RANGE"));
  EXPECT_THAT(client_->CosineSimilarities({.model = "small", .row_count = 9}), ReasonIs("INVALID_OPTION"));
}

// The whole table takes far longer than the deadline, and the call that follows does not wait for it.
TEST(TableStatisticsOfALargeTable, EndWithTheDeadline) {
  config::ServerConfig config;
  config.models = {testing::SmallModel("large", 400'000, 256, 0)};
  const testing::ServedModels served(config);
  const client::Client client = served.InProcessClient();
  ASSERT_THAT(client.CosineSimilarities({.model = "large", .row_count = 2}), IsOk());

  const auto statistics = client.TableStatistics({.model = "large"}, {.timeout = absl::Milliseconds(10)});

  EXPECT_THAT(statistics, StatusIs(absl::StatusCode::kDeadlineExceeded, ::testing::_));
  EXPECT_THAT(client.CosineSimilarities({.model = "large", .row_count = 2}), IsOk());
}

}  // namespace
}  // namespace embd

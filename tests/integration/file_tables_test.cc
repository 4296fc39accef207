// Servers whose tables come from files.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kDim = 1024;

class FileTables : public ::testing::Test {
 protected:
  config::ServerConfig Serving(const std::vector<float>& values, bool mmap, config::NanPolicy nan) const {
    const config::RawLayout layout = {.dtype = config::StoredType::kFloat32,
                                      .rows = static_cast<std::int64_t>(values.size()) / kDim,
                                      .columns = kDim};
    config::ServerConfig config;
    config.models = {
        {.name = "m",
         .token = config::TableFile{
             .path = folder_.Write("t.bin", formats::Raw(values)), .raw = layout, .mmap = mmap, .nan = nan}}};
    return config;
  }

  static client::EmbedRequest Row(std::int64_t id) {
    return {.model = "m", .ids = {id}, .batch_size = 1, .sequence_length = 1};
  }

  formats::ScratchFolder folder_;
};

TEST_F(FileTables, RowsOfAMappedFileAreServedByEveryRoute) {
  const config::ServerConfig config = Serving(std::vector<float>(4 * kDim, 1.5f), true, config::NanPolicy::kWarn);
  const testing::ServedModels served(config);

  for (const testing::Route& route : testing::AllRoutes(config, served)) {
    SCOPED_TRACE(route.name);
    ASSERT_OK_AND_ASSIGN(const client::Embedding embedding, route.embed(Row(3)));
    EXPECT_EQ(embedding.bytes().size(), kDim * sizeof(float));
  }
}

TEST_F(FileTables, MappedFileThatIsCutShortIsRefusedAndTheServerLives) {
  config::ServerConfig config = Serving(std::vector<float>(64 * kDim, 1.5f), true, config::NanPolicy::kWarn);
  config.models.push_back(testing::SmallModel("other", 3, 4, 0));
  const testing::ServedModels served(config);
  ASSERT_THAT(served.InProcessClient().Embed(Row(63)), IsOk());

  std::filesystem::resize_file(folder_.Path("t.bin"), 2 * kDim * sizeof(float));

  for (const testing::Route& route : testing::AllRoutes({}, served)) {
    if (route.name == "core") continue;
    SCOPED_TRACE(route.name);
    EXPECT_THAT(route.embed(Row(63)), AllOf(StatusIs(absl::StatusCode::kFailedPrecondition,
                                                     AllOf(HasSubstr("model \"m\": its table is mapped from "),
                                                           HasSubstr("t.bin"), HasSubstr("has become shorter"))),
                                            ReasonIs("TABLE_DAMAGED")));
  }
  EXPECT_THAT(served.InProcessClient().Embed(Row(0)), ReasonIs("TABLE_DAMAGED"));
  client::EmbedRequest other = Row(0);
  other.model = "other";
  EXPECT_THAT(served.InProcessClient().Embed(other), IsOk());
}

TEST_F(FileTables, EveryCallThatReadsAMappedFileThatIsCutShortIsRefused) {
  const testing::ServedModels served(Serving(std::vector<float>(64 * kDim, 1.5f), true, config::NanPolicy::kWarn));
  const client::Client client = served.InProcessClient();
  const std::vector<float> ones(kDim, 1.0f);
  const auto vector = client::InputTensor::FromFloats(ones, {1, kDim});
  const auto cell = client::InputTensor::FromFloats(ones, {1, 1, kDim});
  constexpr auto kToken = client::TableKind::kToken;
  const std::map<std::string, std::function<absl::Status()>> calls = {
      {"bags", [&] { return client.EmbedBags({.bags = {{.model = "m", .ids = {63}, .row_lengths = {1}}}}).status(); }},
      {"cosines", [&] { return client.CosineSimilarities({.model = "m", .table = kToken, .row_count = 2}).status(); }},
      {"explain",
       [&] { return client.ExplainCell({.model = "m", .ids = {63}, .batch_size = 1, .sequence_length = 1}).status(); }},
      {"gradient",
       [&] {
         return client
             .Gradient({.model = "m",
                        .ids = {63},
                        .batch_size = 1,
                        .sequence_length = 1,
                        .tables = {kToken},
                        .output_gradient = cell})
             .status();
       }},
      {"nearest", [&] { return client.NearestTokens({.model = "m", .ids = {63}, .top_k = 1}).status(); }},
      {"project", [&] { return client.Project({.model = "m", .vectors = vector, .top_k = 1}).status(); }},
      {"similarity",
       [&] { return client.NeighbourSimilarity({.model = "m", .table = kToken, .max_offset = 3}).status(); }},
      {"statistics", [&] { return client.TableStatistics({.model = "m", .table = kToken}).status(); }},
  };
  for (const auto& [name, call] : calls) EXPECT_THAT(call(), IsOk()) << name;

  std::filesystem::resize_file(folder_.Path("t.bin"), 0);

  for (const auto& [name, call] : calls) EXPECT_THAT(call(), ReasonIs("TABLE_DAMAGED")) << name;
}

TEST_F(FileTables, ReadFileCanBeCutShort) {
  const testing::ServedModels served(Serving(std::vector<float>(64 * kDim, 1.5f), false, config::NanPolicy::kWarn));

  std::filesystem::resize_file(folder_.Path("t.bin"), 0);

  EXPECT_THAT(served.InProcessClient().Embed(Row(63)), IsOk());
}

TEST_F(FileTables, NansAndInfinitiesPassUnchanged) {
  const std::vector<std::uint32_t> specials = {0x7FC00000, 0xFFC00000, 0x7FC12345, 0x7F800000, 0xFF800000, 0x80000000};
  std::vector<float> values(2 * kDim, 0.0f);
  std::memcpy(values.data() + kDim, specials.data(), specials.size() * sizeof(float));
  const config::ServerConfig config = Serving(values, false, config::NanPolicy::kAllow);
  const testing::ServedModels served(config);

  for (const testing::Route& route : testing::AllRoutes(config, served)) {
    SCOPED_TRACE(route.name);
    ASSERT_OK_AND_ASSIGN(const client::Embedding embedding, route.embed(Row(1)));
    std::vector<std::uint32_t> bits(specials.size());
    std::memcpy(bits.data(), embedding.bytes().data(), bits.size() * sizeof(std::uint32_t));
    EXPECT_EQ(bits, specials);
  }
}

// A report of a NaN that came out as null with a success status, and of rows beside it that were lost with it.
TEST_F(FileTables, NansOfOneRowLeaveOthersAloneAndAreWarnedOfAtStart) {
  std::vector<float> values(4 * kDim, 1.5f);
  values[3 * kDim + 7] = std::numeric_limits<float>::quiet_NaN();
  values[3 * kDim + 9] = std::numeric_limits<float>::quiet_NaN();

  ::testing::internal::CaptureStderr();
  const testing::ServedModels served(Serving(values, false, config::NanPolicy::kWarn));
  const std::string log = ::testing::internal::GetCapturedStderr();

  EXPECT_THAT(log, HasSubstr("the table holds 2 NaNs, the first one in row 3, column 7"));
  for (const std::int64_t id : {0, 1, 2}) {
    const auto row = served.InProcessClient().Embed(Row(id));
    ASSERT_THAT(row, IsOk());
    EXPECT_THAT(row->As<float>().value(), ::testing::Each(1.5f));
  }
  const auto row = served.InProcessClient().Embed(Row(3));
  ASSERT_THAT(row, IsOk());
  EXPECT_TRUE(std::isnan(row->As<float>().value()[7]));
}

TEST_F(FileTables, NansStopTheStartWhereTheyAreRejected) {
  std::vector<float> values(4 * kDim, 0.0f);
  const std::uint32_t nan = 0x7FC00000;
  std::memcpy(values.data() + 3 * kDim + 7, &nan, sizeof nan);
  config::ServerConfig config = Serving(values, false, config::NanPolicy::kReject);
  config.listen = {"127.0.0.1:0"};

  EXPECT_THAT(app::EmbeddingServer::Start(config),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                             AllOf(HasSubstr("model \"m\": "), HasSubstr("1 NaN, the first one in row 3, column 7"))),
                    ReasonIs("NAN_IN_TABLE")));
}

}  // namespace
}  // namespace embd

// What loading a model again costs, and what it leaves where it changes nothing or fails.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "tests/support/eventually.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/architectures/model_folder.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd {
namespace {

using ::embd::testing::Eventually;
using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kRows = 500, kDim = 64;

// A server of one model, "m", of a file of its own.
class ReloadedModel : public ::testing::Test {
 protected:
  ReloadedModel() {
    WriteTable(1);
    const config::RawLayout layout = {.dtype = config::StoredType::kFloat32, .rows = kRows, .columns = kDim};
    config_.explicit_model_control = true;
    config_.listen = {"127.0.0.1:0"};
    config_.models = {{.name = "m", .token = config::TableFile{.path = folder_.Path("t.bin"), .raw = layout}}};
    server_ = app::EmbeddingServer::Start(config_, {}, [this] {
                return absl::StatusOr<config::ServerConfig>(config_);
              }).value();
    client_ = std::make_unique<client::Client>(client::Client::Connect(server_->addresses()[0]).value());
  }

  // Another file in the place of the old one.
  void WriteTable(float value) {
    std::filesystem::rename(folder_.Write("next", formats::Raw(std::vector<float>(kRows * kDim, value))),
                            folder_.Path("t.bin"));
  }

  absl::StatusOr<client::Embedding> Embed() {
    return client_->Embed({.model = "m", .ids = {1, 2, 499, 9, 0, 7}, .batch_size = 2, .sequence_length = 3});
  }

  absl::Duration MedianOf(int calls) {
    std::vector<absl::Duration> took;
    for (int i = 0; i < calls; ++i) {
      const absl::Time begin = absl::Now();
      EXPECT_THAT(Embed(), IsOk());
      took.push_back(absl::Now() - begin);
    }
    std::ranges::sort(took);
    return took[took.size() / 2];
  }

  formats::ScratchFolder folder_;
  config::ServerConfig config_;
  std::unique_ptr<app::EmbeddingServer> server_;
  std::unique_ptr<client::Client> client_;
};

// Other work on the machine slows a while of calls down: both are the best of several.
TEST_F(ReloadedModel, AnswersAsFastAfter200ReloadsAsBefore) {
  constexpr int kCalls = 300;
  absl::Duration before = MedianOf(kCalls);
  for (int i = 0; i < 4; ++i) before = std::min(before, MedianOf(kCalls));

  for (int generation = 2; generation <= 201; ++generation) {
    WriteTable(static_cast<float>(generation));
    ASSERT_EQ(client_->LoadModel("m").value().generation, generation);
  }

  absl::Duration after = absl::InfiniteDuration();
  EXPECT_TRUE(Eventually([&] { return (after = std::min(after, MedianOf(kCalls))) < 1.5 * before; }))
      << before << " before, " << after << " after";
}

TEST_F(ReloadedModel, IsTheSameWhereItsFileIs) {
  ASSERT_OK_AND_ASSIGN(const client::Embedding before, Embed());

  ASSERT_OK_AND_ASSIGN(const client::LoadedModel again, client_->LoadModel("m"));
  ASSERT_OK_AND_ASSIGN(const client::ReloadReport report, client_->ReloadConfig());

  ASSERT_OK_AND_ASSIGN(const client::Embedding after, Embed());
  EXPECT_EQ(again.generation, 2);
  EXPECT_EQ(again.checksum, before.info().checksum);
  EXPECT_THAT(report.unchanged, ElementsAre("m"));
  EXPECT_EQ(after.info().generation, 2);
  EXPECT_TRUE(std::ranges::equal(after.bytes(), before.bytes()));
}

TEST(LoadedFolder, WithMoreWordsThanRowsIsRefusedAndTheServerGoesOn) {
  const auto config_of = [](int words) { return absl::StrCat(R"({"model_type":"gpt2","vocab_size":)", words, "}"); };
  const architectures::ModelFolder folder(config_of(10), {{"wte.weight", {10, 8}}, {"wpe.weight", {6, 8}}});
  config::ServerConfig config;
  config.explicit_model_control = true;
  config.models = {{.name = "m", .path = folder.Path("")}};
  const testing::ServedModels served(config);
  const client::Client client = served.TcpClient();
  const client::EmbedRequest request = {.model = "m", .ids = {9}, .batch_size = 1, .sequence_length = 1};
  ASSERT_OK_AND_ASSIGN(const client::Embedding before, client.Embed(request));

  folder.Write("config.json", config_of(12));

  EXPECT_THAT(client.LoadModel("m"), StatusIs(absl::StatusCode::kInvalidArgument,
                                              AllOf(HasSubstr("vocab_size = 12"), HasSubstr("has 10 rows"))));
  ASSERT_OK_AND_ASSIGN(const client::Embedding after, client.Embed(request));
  EXPECT_EQ(after.info().generation, 1);
  EXPECT_TRUE(std::ranges::equal(after.bytes(), before.bytes()));
}

}  // namespace
}  // namespace embd

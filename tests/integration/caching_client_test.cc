// The caching client against a real server: what it puts together equals what the server sends, to the bit.

#include "embd/client/caching_client.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd {
namespace {

using client::CachingClient;
using client::DataType;
using client::EmbedRequest;
using client::Part;
using ::embd::testing::IsOk;

constexpr std::int64_t kV = 120, kD = 38, kL = 90;

// Any bits but those of NaNs: infinities, subnormals and zeros of both signs among them.
template <typename Word>
std::vector<Word> AnyFiniteBits(Word exponent_mask) {
  std::mt19937_64 random(6);
  std::vector<Word> words;
  while (words.size() < kV * kD) {
    const auto word = static_cast<Word>(random());
    if ((word & exponent_mask) != exponent_mask) words.push_back(word);
  }
  return words;
}

class CachingClientOverTcp : public ::testing::Test {
 protected:
  config::ModelConfig FileModel(const std::string& name, config::StoredType type, const std::string& bytes) const {
    config::ModelConfig model = testing::SmallModel(name, kV, kD, kL);
    model.token = config::TableFile{.path = folder_.Write(name + ".bin", bytes),
                                    .raw = config::RawLayout{.dtype = type, .rows = kV, .columns = kD}};
    return model;
  }

  config::ServerConfig Config() const {
    const std::string half = formats::Raw(AnyFiniteBits<std::uint16_t>(0x7C00));
    const std::string bfloat = formats::Raw(AnyFiniteBits<std::uint16_t>(0x7F80));
    const std::string single = formats::Raw(AnyFiniteBits<std::uint32_t>(0x7F800000));
    const std::string twice = formats::Raw(AnyFiniteBits<std::uint64_t>(0x7FF0000000000000));
    config::ServerConfig config;
    config.models = {testing::SmallModel("seeded", kV, kD, kL),
                     FileModel("half", config::StoredType::kFloat16, half),
                     FileModel("scaled_half", config::StoredType::kFloat16, half),
                     FileModel("bfloat", config::StoredType::kBFloat16, bfloat),
                     FileModel("single", config::StoredType::kFloat32, single),
                     FileModel("twice", config::StoredType::kFloat64, twice),
                     testing::SmallModel("growing", kV, kD, 0),
                     testing::SmallModel("bare", kV, kD, 0)};
    config.models[2].token_scale = config::TokenScale{.sqrt_dim = true};
    config.models[6].position = config::SinusoidalPositions{.max_context_length = 4, .grow_to = kL};
    return config;
  }

  formats::ScratchFolder folder_;
  testing::ServedModels served_ = testing::ServedModels(Config());
};

TEST_F(CachingClientOverTcp, ComposesWhatTheServerSends) {
  const client::Client plain = served_.TcpClient();
  std::mt19937 random(1);
  for (const config::ModelConfig& model : Config().models) {
    const CachingClient caching = CachingClient::Create(plain, model.name, {.max_bytes = 28'000}).value();
    for (int i = 0; i < 24; ++i) {
      SCOPED_TRACE(::testing::Message() << model.name << ", batch " << i);
      EmbedRequest request = {.model = model.name, .batch_size = 2, .sequence_length = 9};
      for (int cell = 0; cell < 18; ++cell) request.ids.push_back(static_cast<std::int64_t>(random() % kV));
      request.part = i % 2 == 0 ? Part::kComposed : Part::kToken;
      request.output_type = static_cast<DataType>(1 + i % 3);
      if (request.part == Part::kComposed) request.position_offsets = {static_cast<std::int64_t>(random() % 80), 0};
      const auto result = caching.Embed(request);
      const auto expected = plain.Embed(request);
      ASSERT_THAT(result, IsOk());
      ASSERT_THAT(expected, IsOk());
      EXPECT_EQ(result->info().checksum, expected->info().checksum);
      EXPECT_EQ(result->info().generation, expected->info().generation);
      EXPECT_EQ(result->info().model_version, expected->info().model_version);
      ASSERT_EQ(result->bytes().size(), expected->bytes().size());
      EXPECT_EQ(std::memcmp(result->bytes().data(), expected->bytes().data(), expected->bytes().size()), 0);
    }
    EXPECT_EQ(caching.statistics().plain_calls, 0) << caching.statistics().plain_reason;
  }
}

TEST_F(CachingClientOverTcp, FetchesStoredHalvesAsTheyAre) {
  const CachingClient caching = CachingClient::Create(served_.TcpClient(), "half").value();
  EmbedRequest request = {
      .model = "half", .ids = {1, 2, 1}, .batch_size = 1, .sequence_length = 3, .part = Part::kToken};

  ASSERT_THAT(caching.Embed(request), IsOk());

  EXPECT_EQ(caching.statistics().bytes_fetched, 2 * kD * 2);
}

}  // namespace
}  // namespace embd

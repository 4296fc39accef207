#ifndef EMBD_TESTS_UNIT_CLIENT_CACHING_CLIENT_FIXTURE_H_
#define EMBD_TESTS_UNIT_CLIENT_CACHING_CLIENT_FIXTURE_H_

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "embd/client/caching_client.h"
#include "embd/client/fake_transport.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

// A CachingClient beside a Client that asks plainly, both of one fake server whose model is drawn by a seed.
namespace embd::client {

inline constexpr std::int64_t kV = 300, kD = 5, kL = 200;

inline std::vector<float> Drawn(std::int64_t rows, unsigned seed, std::int64_t dim = kD) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(rows * dim));
  for (float& value : values) value = normal(random);
  return values;
}

inline FakeModel Model(unsigned seed = 1) {
  return {.name = "m",
          .embedding_dim = kD,
          .token = Drawn(kV, seed),
          .position = Drawn(kL, seed + 100),
          .token_scale = 1.7f,
          .checksum = "tables " + std::to_string(seed)};
}

inline EmbedRequest Request(std::vector<std::int64_t> ids, std::int64_t batch, std::int64_t tokens) {
  return {.model = "m", .ids = std::move(ids), .batch_size = batch, .sequence_length = tokens};
}

inline EmbedRequest RandomRequest(std::mt19937& random, std::int64_t vocab_size = kV) {
  const auto batch = static_cast<std::int64_t>(1 + random() % 4), tokens = static_cast<std::int64_t>(1 + random() % 20);
  EmbedRequest request = Request({}, batch, tokens);
  for (std::int64_t i = 0; i < batch * tokens; ++i) {
    request.ids.push_back(static_cast<std::int64_t>(random() % static_cast<unsigned>(vocab_size)));
  }
  return request;
}

class CachingClientTest : public ::testing::Test {
 protected:
  CachingClientTest() { fake_->AddModel(Model()); }

  CachingClient Caching(const CachingOptions& options = {}) const {
    return CachingClient::Create(client_, "m", options).value();
  }

  // The tensor is that of the plain call, to the bit.
  void ExpectPlain(const CachingClient& caching, const EmbedRequest& request) const {
    const auto result = caching.Embed(request);
    const auto plain = client_.Embed(request);
    ASSERT_THAT(result, ::embd::testing::IsOk());
    ASSERT_THAT(plain, ::embd::testing::IsOk());
    EXPECT_EQ(result->shape(), plain->shape());
    EXPECT_EQ(result->data_type(), plain->data_type());
    EXPECT_EQ(result->info().model, plain->info().model);
    EXPECT_EQ(result->info().model_version, plain->info().model_version);
    EXPECT_EQ(result->info().generation, plain->info().generation);
    EXPECT_EQ(result->info().checksum, plain->info().checksum);
    ASSERT_EQ(result->bytes().size(), plain->bytes().size());
    EXPECT_EQ(std::memcmp(result->bytes().data(), plain->bytes().data(), plain->bytes().size()), 0);
  }

  // What was asked since the last look, of embed requests.
  std::vector<EmbedRequest> Asked() {
    std::vector<EmbedRequest> all = fake_->embed_requests();
    std::vector<EmbedRequest> since(all.begin() + static_cast<std::ptrdiff_t>(seen_), all.end());
    seen_ = all.size();
    return since;
  }

  std::shared_ptr<FakeTransport> fake_ = std::make_shared<FakeTransport>();
  Client client_ = Client(fake_);
  std::size_t seen_ = 0;
};

}  // namespace embd::client

#endif  // EMBD_TESTS_UNIT_CLIENT_CACHING_CLIENT_FIXTURE_H_

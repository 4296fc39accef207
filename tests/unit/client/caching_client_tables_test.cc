// What a CachingClient does when the server has other tables than those whose rows it keeps.

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/client/caching_client_fixture.h"

namespace embd::client {
namespace {

using ::embd::testing::IsOk;
using ::testing::IsEmpty;

TEST_F(CachingClientTest, ReplacedTablesAreNoticedAtTheNextFetch) {
  const CachingClient caching = Caching();
  ASSERT_THAT(caching.Embed(Request({5, 3}, 1, 2)), IsOk());
  fake_->AddModel(Model(2));

  ExpectPlain(caching, Request({5, 3, 4}, 1, 3));

  EXPECT_EQ(caching.statistics().tables_dropped, 1);
  EXPECT_EQ(caching.statistics().plain_calls, 0);
  EXPECT_EQ(caching.statistics().rows_kept, 3);
}

TEST_F(CachingClientTest, ReplacedTablesOfAnotherShapeAreNoticedToo) {
  const CachingClient caching = Caching();
  ASSERT_THAT(caching.Embed(Request({5, 3}, 1, 2)), IsOk());
  FakeModel model = Model(2);
  model.embedding_dim = 3;
  model.token = Drawn(10, 2, 3);
  model.position.clear();
  fake_->AddModel(model);

  ExpectPlain(caching, Request({5, 3, 4}, 1, 3));
}

TEST_F(CachingClientTest, ReplacedTablesAreSeenInRepliesOfPlainCalls) {
  const CachingClient caching = Caching();
  ASSERT_THAT(caching.Embed(Request({5, 3}, 1, 2)), IsOk());
  fake_->AddModel(Model(2));
  EmbedRequest plain = Request({5, 3}, 1, 2);
  plain.attention_mask = {1, 1};
  ASSERT_THAT(caching.Embed(plain), IsOk());

  ExpectPlain(caching, Request({5, 3}, 1, 2));
}

// What max_age is for.
TEST_F(CachingClientTest, ReplacedTablesAreNotNoticedWhereNothingIsFetched) {
  const CachingClient caching = Caching();
  ASSERT_THAT(caching.Embed(Request({5, 3}, 1, 2)), IsOk());
  fake_->AddModel(Model(2));

  ASSERT_OK_AND_ASSIGN(const Embedding stale, caching.Embed(Request({5, 3}, 1, 2)));

  EXPECT_EQ(stale.info().checksum, "tables 1");
}

TEST_F(CachingClientTest, TablesOlderThanMaxAgeAreAskedFor) {
  const CachingClient caching = Caching({.max_age = absl::ZeroDuration()});
  ExpectPlain(caching, Request({5, 3}, 1, 2));
  Asked();
  ExpectPlain(caching, Request({5, 3}, 1, 2));
  const std::vector<EmbedRequest> asked = Asked();
  ASSERT_EQ(asked.size(), 2u);  // the second one is the plain call
  EXPECT_THAT(asked[0].ids, IsEmpty());
  EXPECT_EQ(asked[0].if_checksum, "tables 1");
  fake_->AddModel(Model(2));

  ExpectPlain(caching, Request({5, 3}, 1, 2));

  EXPECT_EQ(caching.statistics().tables_dropped, 1);
}

// A server whose tables are replaced at every call.
class RestlessTransport : public FakeTransport {
 public:
  absl::StatusOr<EmbedInfo> Embed(const EmbedRequest& request, const Place& place,
                                  const CallOptions& options) override {
    if (!request.if_checksum.empty()) AddModel(Model(++seed_));
    return FakeTransport::Embed(request, place, options);
  }

 private:
  unsigned seed_ = 1;
};

TEST(CachingClientAndServer, TablesThatKeepChangingAreAskedForPlainly) {
  auto restless = std::make_shared<RestlessTransport>();
  restless->AddModel(Model());
  const CachingClient caching = CachingClient::Create(Client(restless), "m").value();

  EXPECT_THAT(caching.Embed(Request({5, 3}, 1, 2)), IsOk());

  EXPECT_EQ(caching.statistics().plain_calls, 1);
  EXPECT_EQ(caching.statistics().plain_reason, "the server's tables keep changing");
}

// A server that has never heard of if_checksum.
class OldTransport : public FakeTransport {
 public:
  absl::StatusOr<EmbedInfo> Embed(const EmbedRequest& request, const Place& place,
                                  const CallOptions& options) override {
    EmbedRequest known = request;
    known.if_checksum.clear();
    return FakeTransport::Embed(known, place, options);
  }
};

TEST(CachingClientAndServer, OldServersTablesAreToldByTheChecksumOfReplies) {
  auto old = std::make_shared<OldTransport>();
  old->AddModel(Model());
  const CachingClient caching = CachingClient::Create(Client(old), "m").value();
  ASSERT_THAT(caching.Embed(Request({5, 3}, 1, 2)), IsOk());
  old->AddModel(Model(2));

  ASSERT_OK_AND_ASSIGN(const Embedding result, caching.Embed(Request({5, 4}, 1, 2)));

  ASSERT_OK_AND_ASSIGN(const Embedding plain, Client(old).Embed(Request({5, 4}, 1, 2)));
  EXPECT_EQ(result.info().checksum, "tables 2");
  EXPECT_EQ(std::memcmp(result.bytes().data(), plain.bytes().data(), plain.bytes().size()), 0);
}

// Each tensor is of one load, whichever: never a mix.
TEST_F(CachingClientTest, ManyThreadsNeverMixTheTablesOfTwoLoads) {
  std::vector<Client> loads;
  for (unsigned seed = 1; seed <= 2; ++seed) {
    auto load = std::make_shared<FakeTransport>();
    load->AddModel(Model(seed));
    loads.emplace_back(load);
  }
  const CachingClient caching = Caching({.max_bytes = 12'000});
  std::atomic<int> wrong = 0;
  std::atomic<bool> over = false;
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < 3; ++seed) {
      threads.emplace_back([&, seed] {
        std::mt19937 random(seed);
        for (int i = 0; i < 150 || caching.statistics().tables_dropped == 0; ++i) {
          const EmbedRequest request = RandomRequest(random);
          const auto result = caching.Embed(request);
          if (!result.ok()) {
            ++wrong;
            continue;
          }
          const auto plain = loads[result->info().checksum == "tables 1" ? 0 : 1].Embed(request);
          wrong += std::memcmp(result->bytes().data(), plain->bytes().data(), plain->bytes().size()) == 0 ? 0 : 1;
        }
      });
    }
    std::jthread replaces([&] {
      for (unsigned i = 0; !over; ++i) {
        fake_->AddModel(Model(1 + i % 2));
        std::this_thread::yield();
      }
    });
    threads.clear();
    over = true;
  }

  EXPECT_EQ(wrong, 0);
  EXPECT_GT(caching.statistics().tables_dropped, 0);
}

}  // namespace
}  // namespace embd::client

// A request that is answered has the same bytes by every route, and each row of a batch those that it has alone.
//
// Another seed, for an hour of looking by hand: RANDOM_ROUTES_SEED=7 RANDOM_ROUTES_ROUNDS=100.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "proto/wire/data_type.h"
#include "server/service/raw_ids.h"
#include "tests/integration/routes/comparison.h"
#include "tests/integration/routes/random_requests.h"
#include "tests/integration/routes/random_server.h"

namespace embd::testing {
namespace {

constexpr std::size_t kRequestsAModel = 16;

// Sends each row of the batch alone, by every route, and looks for it in the reply to the batch.
void ExpectRowsAlone(const RandomRequest& batch, const v1::EmbedResponse& reply, const RandomModel& model,
                     Comparison* comparison) {
  std::vector<std::size_t> rows;
  std::vector<v1::EmbedRequest> alone;
  for (std::size_t row = 0; row < batch.lengths.size(); ++row) {
    if (batch.lengths[row] == 0) continue;
    rows.push_back(row);
    alone.push_back(RowAlone(batch, row));
  }
  const std::vector<Answer> answers = comparison->Send(alone, model.dim);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_TRUE(answers[i].ok()) << answers[i].status() << "\n" << alone[i].ShortDebugString();
    EXPECT_TRUE(answers[i]->embeddings().data() == RowOfReply(batch, reply, rows[i]))
        << "row " << rows[i] << " of " << batch.message.ShortDebugString();
  }
}

std::vector<std::int64_t> IdsOf(const v1::EmbedRequest& request) {
  if (request.has_ids_tensor()) return service::ReadRawIds(request.ids_tensor());
  return {request.ids().begin(), request.ids().end()};
}

// Token rows are the greatest of bags that have one id each; but padding, which bags leave out. (Sums begin at 0, and
// would make 0 of the -0 that a row of zeros times a negative scale is.)
void ExpectSameAsBags(const RandomRequest& batch, const v1::EmbedResponse& reply, const RandomModel& model,
                      const Routes& routes) {
  const std::vector<std::int64_t> ids = IdsOf(batch.message);
  v1::EmbedBagsRequest request;
  request.set_output_type(batch.message.output_type());
  v1::Bag& bag = *request.add_bags();
  bag.set_model(batch.message.model());
  bag.set_mode(v1::BAG_MODE_MAX);
  bag.mutable_ids()->Assign(ids.begin(), ids.end());
  for (std::size_t i = 0; i < ids.size(); ++i) bag.add_row_lengths(1);
  const auto bags = routes.EmbedBags(request);
  ASSERT_TRUE(bags.ok()) << bags.status() << "\n" << request.ShortDebugString();
  std::string expected;
  for (std::size_t row = 0; row < batch.lengths.size(); ++row) expected += RowOfReply(batch, reply, row);
  const std::string& actual = bags->embeddings(0).data();
  ASSERT_EQ(actual.size(), expected.size());
  const std::size_t bytes = static_cast<std::size_t>(model.dim * wire::DataTypeSize(reply.embeddings().data_type()));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == model.padding_idx) continue;
    EXPECT_TRUE(actual.compare(i * bytes, bytes, expected, i * bytes, bytes) == 0)
        << "bag " << i << ", id " << ids[i] << " of model " << model.name;
  }
}

// What was drawn and compared.
struct Tally {
  int answered = 0, bags = 0;
};

void CompareBatches(Draw& draw, const RandomModel& model, const Routes& routes, Comparison* comparison, Tally* tally) {
  std::vector<RandomRequest> batches;
  std::vector<v1::EmbedRequest> requests;
  while (batches.size() < kRequestsAModel) {
    batches.push_back(DrawRequest(draw, model));
    requests.push_back(batches.back().message);
  }
  const std::vector<Answer> answers = comparison->Send(requests, model.dim);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    ASSERT_TRUE(answers[i].ok()) << answers[i].status() << "\n" << requests[i].ShortDebugString();
    ++tally->answered;
    if (requests[i].unique()) continue;
    ExpectRowsAlone(batches[i], *answers[i], model, comparison);
    const bool has_ids = requests[i].ids_size() > 0 || requests[i].has_ids_tensor();
    if (requests[i].part() != v1::PART_TOKEN || !has_ids) continue;
    ExpectSameAsBags(batches[i], *answers[i], model, routes);
    ++tally->bags;
  }
}

TEST(Routes, GiveTheSameBytesForABatchAndForEachOfItsRows) {
  Draw draw(static_cast<std::uint64_t>(FromEnvironment("RANDOM_ROUTES_SEED", 2026)));
  RandomServer server(draw);
  Comparison comparison(&server.routes());
  Tally tally;

  for (std::int64_t round = FromEnvironment("RANDOM_ROUTES_ROUNDS", 1); round > 0 && !::testing::Test::HasFailure();
       --round) {
    for (const RandomModel& model : server.models()) {
      CompareBatches(draw, model, server.routes(), &comparison, &tally);
    }
  }

  std::printf("%d batches answered alike, %lld requests sent, %lld compared in both protocols, %d with bags\n",
              tally.answered, static_cast<long long>(comparison.sent()),
              static_cast<long long>(comparison.sent_in_other_words()), tally.bags);
  EXPECT_GE(tally.answered, 400);
  EXPECT_GE(tally.bags, 40);
  EXPECT_GE(comparison.sent_in_other_words(), 200);
  EXPECT_TRUE(server.Stop());
}

}  // namespace
}  // namespace embd::testing

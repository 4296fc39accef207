#include "embd/client/nearest.h"

#include <string>
#include <vector>

#include "client/src/convert_tables.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "tests/support/status_matchers.h"

namespace embd::client {
namespace {

using ::embd::testing::StatusIs;
using ::testing::_;
using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::NearestTokensResponse Message(const std::string& text) {
  v1::NearestTokensResponse message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

TEST(NearestTokensConversion, SendsEveryFieldOfTheRequest) {
  const NearestTokensRequest request = {
      .model = "m",
      .ids = {1, 2},
      .tokens = {"a"},
      .analogies = {{.plus_ids = {3}, .minus_ids = {4}, .plus_tokens = {"b"}, .minus_tokens = {"c"}}},
      .vectors = InputTensor::FromFloats(std::vector<float>{1.0f}, {1, 1}),
      .top_k = 5,
      .metric = Metric::kL2,
      .table = TableKind::kPosition,
      .include_queries = true,
      .with_tokens = true,
      .model_version = "7"};

  v1::NearestTokensRequest expected;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(model: "m" model_version: "7" table: TABLE_KIND_POSITION ids: [1, 2] tokens: "a"
         analogies { plus_ids: 3 minus_ids: 4 plus_tokens: "b" minus_tokens: "c" } top_k: 5 metric: METRIC_L2
         include_queries: true with_tokens: true
         vectors { data_type: DATA_TYPE_FLOAT32 shape: [1, 1] data: "\000\000\200?" })",
      &expected));
  EXPECT_EQ(ToProto(request).ShortDebugString(), expected.ShortDebugString());
}

TEST(NearestTokensConversion, SharesTheRowsOutAmongTheQueries) {
  ASSERT_OK_AND_ASSIGN(const auto nearest,
                       FromProto(Message(R"(model: "m" model_version: "7" table: TABLE_KIND_TOKEN row_lengths: [2, 0, 1]
                                            ids: [5, 6, 7] scores: [0.5, 0.25, -1] tokens: ["a", "b", "c"])")));

  EXPECT_EQ(nearest.model, "m");
  EXPECT_EQ(nearest.model_version, "7");
  EXPECT_EQ(nearest.table, TableKind::kToken);
  ASSERT_THAT(nearest.queries, SizeIs(3));
  ASSERT_THAT(nearest.queries[0], SizeIs(2));
  EXPECT_EQ(nearest.queries[0][1].id, 6);
  EXPECT_EQ(nearest.queries[0][1].score, 0.25);
  EXPECT_EQ(nearest.queries[0][1].token, "b");
  EXPECT_THAT(nearest.queries[1], IsEmpty());
  EXPECT_EQ(nearest.queries[2].at(0).id, 7);
}

TEST(NearestTokensConversion, RefusesListsThatDoNotFitTogether) {
  for (const char* const text :
       {"row_lengths: 2 ids: [1, 2] scores: 1", "row_lengths: 2 ids: [1, 2] scores: [1, 1] tokens: 'a'",
        "row_lengths: 1 ids: [1, 2] scores: [1, 1]", "row_lengths: 3 ids: [1, 2] scores: [1, 1]",
        "row_lengths: [3, -1] ids: [1, 2] scores: [1, 1]"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(FromProto(Message(text)), StatusIs(absl::StatusCode::kInternal, _));
  }
}

}  // namespace
}  // namespace embd::client

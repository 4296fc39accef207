#include "embd/client/statistics.h"

#include <string>

#include "embd/client/client.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "tests/support/scripted_server.h"
#include "tests/support/status_matchers.h"

namespace embd::client {
namespace {

using ::embd::testing::ScriptedServer;
using ::embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Answers with `reply`, in text format, and keeps the request, likewise.
template <typename Request, typename Response>
embd::testing::Script::Unary<Request, Response> Reply(const std::string& reply, std::string* request = nullptr) {
  return [reply, request](grpc::ServerContext*, const Request& received, Response* response) {
    if (request != nullptr) *request = received.ShortDebugString();
    return google::protobuf::TextFormat::ParseFromString(reply, response)
               ? grpc::Status::OK
               : grpc::Status(grpc::StatusCode::INTERNAL, "the test's reply is no such message");
  };
}

absl::StatusOr<TableStatistics> StatisticsOf(const std::string& reply) {
  const ScriptedServer server(
      {.table_statistics = Reply<v1::TableStatisticsRequest, v1::TableStatisticsResponse>(reply)});
  return Client::Connect(server.address())->TableStatistics({.model = "a"});
}

absl::StatusOr<CosineSimilarities> CosinesOf(const std::string& reply) {
  const ScriptedServer server(
      {.cosine_similarities = Reply<v1::CosineSimilaritiesRequest, v1::CosineSimilaritiesResponse>(reply)});
  return Client::Connect(server.address())->CosineSimilarities({.model = "a"});
}

TEST(TableStatisticsCall, ReturnsEveryField) {
  std::string request;
  const ScriptedServer server({.table_statistics = Reply<v1::TableStatisticsRequest, v1::TableStatisticsResponse>(
                                   R"(model: "a" model_version: "2" table: TABLE_KIND_POSITION rows: 3 embedding_dim: 5
    data_type: DATA_TYPE_FLOAT16 parameter_count: 15 byte_size: 30 checksum: "c" mean: 0.5 std: 1.5 min: -2.5 max: 3.5
    norm_mean: 4.5 norm_std: 5.5 norm_min: 6.5 norm_max: 7.5 nan_count: 8 inf_count: 9 zero_rows: 10 duplicate_rows: 11
    first_bad_cell: [1, 2] histogram_edges: [6.5, 7, 7.5] histogram_counts: [1, 2] bad_rows: [1] first_zero_rows: [12]
    first_duplicate_rows: [13, 14] duplicates_of: [0, 2])",
                                   &request)});

  ASSERT_OK_AND_ASSIGN(
      const TableStatistics statistics,
      Client::Connect(server.address())
          ->TableStatistics({.model = "a", .table = TableKind::kPosition, .histogram_bins = 2, .model_version = "2"}));

  EXPECT_EQ(request, R"(model: "a" model_version: "2" table: TABLE_KIND_POSITION histogram_bins: 2)");
  EXPECT_EQ(statistics.model, "a");
  EXPECT_EQ(statistics.model_version, "2");
  EXPECT_EQ(statistics.table, TableKind::kPosition);
  EXPECT_EQ(statistics.rows, 3);
  EXPECT_EQ(statistics.embedding_dim, 5);
  EXPECT_EQ(statistics.data_type, DataType::kFloat16);
  EXPECT_EQ(statistics.parameter_count, 15);
  EXPECT_EQ(statistics.byte_size, 30);
  EXPECT_EQ(statistics.checksum, "c");
  EXPECT_EQ(statistics.mean, 0.5);
  EXPECT_EQ(statistics.std, 1.5);
  EXPECT_EQ(statistics.min, -2.5);
  EXPECT_EQ(statistics.max, 3.5);
  EXPECT_EQ(statistics.norm_mean, 4.5);
  EXPECT_EQ(statistics.norm_std, 5.5);
  EXPECT_EQ(statistics.norm_min, 6.5);
  EXPECT_EQ(statistics.norm_max, 7.5);
  EXPECT_EQ(statistics.nan_count, 8);
  EXPECT_EQ(statistics.inf_count, 9);
  EXPECT_EQ(statistics.zero_rows, 10);
  EXPECT_EQ(statistics.duplicate_rows, 11);
  EXPECT_THAT(statistics.first_bad_cell, ElementsAre(1, 2));
  EXPECT_THAT(statistics.histogram_edges, ElementsAre(6.5, 7, 7.5));
  EXPECT_THAT(statistics.histogram_counts, ElementsAre(1, 2));
  EXPECT_THAT(statistics.bad_rows, ElementsAre(1));
  EXPECT_THAT(statistics.first_zero_rows, ElementsAre(12));
  EXPECT_THAT(statistics.first_duplicate_rows, ElementsAre(13, 14));
  EXPECT_THAT(statistics.duplicates_of, ElementsAre(0, 2));
}

TEST(TableStatisticsCall, MayHaveNoHistogram) {
  ASSERT_OK_AND_ASSIGN(const TableStatistics statistics, StatisticsOf(R"(model: "a" nan_count: 4)"));

  EXPECT_THAT(statistics.histogram_edges, IsEmpty());
  EXPECT_THAT(statistics.histogram_counts, IsEmpty());
}

TEST(TableStatisticsCall, RefusesListsThatDoNotFitTogether) {
  EXPECT_THAT(StatisticsOf("histogram_edges: [1, 2] histogram_counts: [1, 2]"),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("edges do not fit")));
  EXPECT_THAT(StatisticsOf("first_duplicate_rows: [1, 2] duplicates_of: [0]"),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("differ in length")));
}

TEST(CosineSimilaritiesCall, ReturnsEveryField) {
  std::string request;
  const ScriptedServer server(
      {.cosine_similarities = Reply<v1::CosineSimilaritiesRequest, v1::CosineSimilaritiesResponse>(
           R"(model: "a" model_version: "2" table: TABLE_KIND_TOKEN row_ids: [4, 7]
              cosines { data_type: DATA_TYPE_FLOAT32 shape: [2, 2]
                        data: "\000\000\200\077\000\000\000\077\000\000\000\077\000\000\200\077" })",
           &request)});

  ASSERT_OK_AND_ASSIGN(const CosineSimilarities result, Client::Connect(server.address())
                                                            ->CosineSimilarities({.model = "a",
                                                                                  .table = TableKind::kToken,
                                                                                  .first_row = 1,
                                                                                  .row_count = 2,
                                                                                  .row_ids = {4, 7},
                                                                                  .model_version = "2"}));

  EXPECT_EQ(request,
            R"(model: "a" model_version: "2" table: TABLE_KIND_TOKEN first_row: 1 row_count: 2 row_ids: 4 row_ids: 7)");
  EXPECT_EQ(result.model, "a");
  EXPECT_EQ(result.model_version, "2");
  EXPECT_EQ(result.table, TableKind::kToken);
  EXPECT_THAT(result.row_ids, ElementsAre(4, 7));
  EXPECT_THAT(result.cosines, ElementsAre(1.0f, 0.5f, 0.5f, 1.0f));
}

TEST(CosineSimilaritiesCall, RefusesATensorThatDoesNotFitTheRows) {
  EXPECT_THAT(CosinesOf(R"(row_ids: [4, 7] cosines { data_type: DATA_TYPE_FLOAT32 shape: [1]
                           data: "\000\000\200\077" })"),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("one for each pair")));
}

}  // namespace
}  // namespace embd::client

#ifndef EMBD_TESTS_SUPPORT_SCRIPTED_SERVER_H_
#define EMBD_TESTS_SUPPORT_SCRIPTED_SERVER_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "embd/v1/diagnostics.grpc.pb.h"
#include "embd/v1/embedding.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"

namespace embd::testing {

/// What the methods of a ScriptedServer do; those that are not set answer UNIMPLEMENTED. They run on threads of gRPC.
struct Script {
  template <typename Request, typename Response>
  using Unary = std::function<grpc::Status(grpc::ServerContext*, const Request&, Response*)>;

  Unary<v1::EmbedRequest, v1::EmbedResponse> embed = {};
  std::function<grpc::Status(grpc::ServerContext*,
                             grpc::ServerReaderWriter<v1::EmbedStreamResponse, v1::EmbedStreamRequest>*)>
      embed_stream = {};
  std::function<grpc::Status(grpc::ServerContext*, const v1::EmbedChunksRequest&,
                             grpc::ServerWriter<v1::EmbedChunksResponse>*)>
      embed_chunks = {};
  Unary<v1::RotateRequest, v1::RotateResponse> rotate = {};
  Unary<v1::RotaryTableRequest, v1::RotaryTableResponse> rotary_table = {};
  Unary<v1::EmbedBagsRequest, v1::EmbedBagsResponse> embed_bags = {};
  Unary<v1::GradientRequest, v1::GradientResponse> gradient = {};
  Unary<v1::ProjectRequest, v1::ProjectResponse> project = {};
  Unary<v1::ListModelsRequest, v1::ListModelsResponse> list_models = {};
  Unary<v1::DescribeModelRequest, v1::DescribeModelResponse> describe_model = {};
  Unary<v1::LookUpTokensRequest, v1::LookUpTokensResponse> look_up_tokens = {};
  Unary<v1::NeighbourSimilarityRequest, v1::NeighbourSimilarityResponse> neighbour_similarity = {};
  Unary<v1::TableStatisticsRequest, v1::TableStatisticsResponse> table_statistics = {};
  Unary<v1::CosineSimilaritiesRequest, v1::CosineSimilaritiesResponse> cosine_similarities = {};
  Unary<v1::NearestTokensRequest, v1::NearestTokensResponse> nearest_tokens = {};
  Unary<v1::PositionWavelengthsRequest, v1::PositionWavelengthsResponse> position_wavelengths = {};
  Unary<v1::ShiftPropertyRequest, v1::ShiftPropertyResponse> shift_property = {};
  Unary<v1::ExplainCellRequest, v1::ExplainCellResponse> explain_cell = {};
  Unary<v1::GetServerInfoRequest, v1::GetServerInfoResponse> get_server_info = {};
};

/// A gRPC server of embd.v1 and grpc.health.v1 that answers as its script says.
class ScriptedServer {
 public:
  /// Listens on `address`; by default on a free port of loopback. `arguments` are gRPC's, of each connection.
  explicit ScriptedServer(Script script, const std::string& address = "127.0.0.1:0",
                          const std::map<std::string, int>& arguments = {})
      : embedding_(script), diagnostics_(script) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(-1);
    for (const auto& [name, value] : arguments) builder.AddChannelArgument(name, value);
    builder.RegisterService(&embedding_);
    builder.RegisterService(&diagnostics_);
    server_ = builder.BuildAndStart();
    address_ = address.rfind("unix:", 0) == 0 ? address : "127.0.0.1:" + std::to_string(port);
  }

  ~ScriptedServer() { server_->Shutdown(std::chrono::system_clock::now()); }

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] grpc::Server& server() { return *server_; }

 private:
  class Embedding final : public v1::EmbeddingService::Service {
   public:
    explicit Embedding(const Script& script) : script_(script) {}
    grpc::Status Embed(grpc::ServerContext* context, const v1::EmbedRequest* request,
                       v1::EmbedResponse* response) override {
      return script_.embed ? script_.embed(context, *request, response) : Unset();
    }
    grpc::Status EmbedStream(
        grpc::ServerContext* context,
        grpc::ServerReaderWriter<v1::EmbedStreamResponse, v1::EmbedStreamRequest>* stream) override {
      return script_.embed_stream ? script_.embed_stream(context, stream) : Unset();
    }
    grpc::Status EmbedChunks(grpc::ServerContext* context, const v1::EmbedChunksRequest* request,
                             grpc::ServerWriter<v1::EmbedChunksResponse>* writer) override {
      return script_.embed_chunks ? script_.embed_chunks(context, *request, writer) : Unset();
    }
    grpc::Status Rotate(grpc::ServerContext* context, const v1::RotateRequest* request,
                        v1::RotateResponse* response) override {
      return script_.rotate ? script_.rotate(context, *request, response) : Unset();
    }
    grpc::Status RotaryTable(grpc::ServerContext* context, const v1::RotaryTableRequest* request,
                             v1::RotaryTableResponse* response) override {
      return script_.rotary_table ? script_.rotary_table(context, *request, response) : Unset();
    }
    grpc::Status EmbedBags(grpc::ServerContext* context, const v1::EmbedBagsRequest* request,
                           v1::EmbedBagsResponse* response) override {
      return script_.embed_bags ? script_.embed_bags(context, *request, response) : Unset();
    }
    grpc::Status Gradient(grpc::ServerContext* context, const v1::GradientRequest* request,
                          v1::GradientResponse* response) override {
      return script_.gradient ? script_.gradient(context, *request, response) : Unset();
    }
    grpc::Status Project(grpc::ServerContext* context, const v1::ProjectRequest* request,
                         v1::ProjectResponse* response) override {
      return script_.project ? script_.project(context, *request, response) : Unset();
    }

   private:
    Script script_;
  };

  class Diagnostics final : public v1::DiagnosticsService::Service {
   public:
    explicit Diagnostics(const Script& script) : script_(script) {}
    grpc::Status ListModels(grpc::ServerContext* context, const v1::ListModelsRequest* request,
                            v1::ListModelsResponse* response) override {
      return script_.list_models ? script_.list_models(context, *request, response) : Unset();
    }
    grpc::Status DescribeModel(grpc::ServerContext* context, const v1::DescribeModelRequest* request,
                               v1::DescribeModelResponse* response) override {
      return script_.describe_model ? script_.describe_model(context, *request, response) : Unset();
    }
    grpc::Status LookUpTokens(grpc::ServerContext* context, const v1::LookUpTokensRequest* request,
                              v1::LookUpTokensResponse* response) override {
      return script_.look_up_tokens ? script_.look_up_tokens(context, *request, response) : Unset();
    }
    grpc::Status NeighbourSimilarity(grpc::ServerContext* context, const v1::NeighbourSimilarityRequest* request,
                                     v1::NeighbourSimilarityResponse* response) override {
      return script_.neighbour_similarity ? script_.neighbour_similarity(context, *request, response) : Unset();
    }
    grpc::Status TableStatistics(grpc::ServerContext* context, const v1::TableStatisticsRequest* request,
                                 v1::TableStatisticsResponse* response) override {
      return script_.table_statistics ? script_.table_statistics(context, *request, response) : Unset();
    }
    grpc::Status CosineSimilarities(grpc::ServerContext* context, const v1::CosineSimilaritiesRequest* request,
                                    v1::CosineSimilaritiesResponse* response) override {
      return script_.cosine_similarities ? script_.cosine_similarities(context, *request, response) : Unset();
    }
    grpc::Status NearestTokens(grpc::ServerContext* context, const v1::NearestTokensRequest* request,
                               v1::NearestTokensResponse* response) override {
      return script_.nearest_tokens ? script_.nearest_tokens(context, *request, response) : Unset();
    }
    grpc::Status PositionWavelengths(grpc::ServerContext* context, const v1::PositionWavelengthsRequest* request,
                                     v1::PositionWavelengthsResponse* response) override {
      return script_.position_wavelengths ? script_.position_wavelengths(context, *request, response) : Unset();
    }
    grpc::Status ShiftProperty(grpc::ServerContext* context, const v1::ShiftPropertyRequest* request,
                               v1::ShiftPropertyResponse* response) override {
      return script_.shift_property ? script_.shift_property(context, *request, response) : Unset();
    }
    grpc::Status ExplainCell(grpc::ServerContext* context, const v1::ExplainCellRequest* request,
                             v1::ExplainCellResponse* response) override {
      return script_.explain_cell ? script_.explain_cell(context, *request, response) : Unset();
    }
    grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest* request,
                               v1::GetServerInfoResponse* response) override {
      return script_.get_server_info ? script_.get_server_info(context, *request, response) : Unset();
    }

   private:
    Script script_;
  };

  static grpc::Status Unset() { return {grpc::StatusCode::UNIMPLEMENTED, "not in the script"}; }

  Embedding embedding_;
  Diagnostics diagnostics_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_SCRIPTED_SERVER_H_

#include "tests/bench/bytes_field_server.h"

#include <span>
#include <utility>

#include "embd/v1/embedding.grpc.pb.h"
#include "server/app/memory_limit.h"
#include "server/app/model_builder.h"
#include "server/app/table_budget.h"
#include "server/core/engine/embed_plan.h"
#include "server/service/describe.h"
#include "server/service/embed_request.h"

namespace embd::bench {

class BytesFieldServer::Service final : public v1::EmbeddingService::CallbackService {
 public:
  explicit Service(const core::ModelRegistry* models) : models_(*models) {}

  grpc::ServerUnaryReactor* Embed(grpc::CallbackServerContext* context, const v1::EmbedRequest* request,
                                  v1::EmbedResponse* response) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    const core::EmbedLimits limits = {
        .max_batch_size = 4096, .max_sequence_length = 4096, .max_response_bytes = 1 << 30};
    v1::EmbedRequest message = *request;
    const auto plan = core::EmbedPlan::Create(models_.Find(request->model(), "").value(),
                                              service::ToEmbedInput(&message).value(), limits);
    response->set_model(plan->model().name());
    response->set_checksum(plan->model().checksum());
    v1::Tensor& tensor = *response->mutable_embeddings();
    tensor.set_data_type(service::ToDataType(plan->output_type()));
    for (const std::int64_t extent : {plan->batch_size(), plan->sequence_length(), plan->model().embedding_dim()}) {
      tensor.add_shape(extent);
    }
    tensor.mutable_data()->resize(plan->byte_size());
    plan->Compose(0, plan->row_count(), std::as_writable_bytes(std::span(*tensor.mutable_data())));
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  const core::ModelRegistry& models_;
};

BytesFieldServer::BytesFieldServer(const config::ServerConfig& config) : service_(std::make_unique<Service>(&models_)) {
  app::TableBudget budget(app::MemoryLimit());
  for (const config::ModelConfig& model : config.models) models_.Put(app::BuildModel(model, &budget).value().model);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(service_.get());
  server_ = builder.BuildAndStart();
}

BytesFieldServer::~BytesFieldServer() { server_->Shutdown(); }

std::string BytesFieldServer::tcp_address() const { return "127.0.0.1:" + std::to_string(port_); }

}  // namespace embd::bench

#include "tests/integration/routes/routes.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "embd/client/channel.h"
#include "proto/wire/status.h"
#include "server/app/memory_limit.h"
#include "server/app/model_builder.h"
#include "server/app/table_budget.h"
#include "server/service/embed_answer.h"
#include "server/service/embed_request.h"

namespace embd::testing {
namespace {

constexpr std::int64_t kRegionBytes = std::int64_t{8} << 20;
constexpr std::int64_t kOutputBytes = std::int64_t{1} << 20;  // for each result; the first half is for inputs
constexpr std::byte kPoison{0xCD};
constexpr std::size_t kLookedAtBytes = 256;  // where a refused request must not have written

template <typename Tensor>
void PutInRegion(const std::string& region, std::int64_t offset, std::int64_t byte_size, Tensor* tensor) {
  auto& parameters = *tensor->mutable_parameters();
  parameters["shared_memory_region"].set_string_param(region);
  parameters["shared_memory_offset"].set_int64_param(offset);
  parameters["shared_memory_byte_size"].set_int64_param(byte_size);
}

v1::EmbedResponse WithoutData(const v1::EmbedChunksHeader& header) {
  v1::EmbedResponse response;
  response.set_model(header.model());
  response.set_model_version(header.model_version());
  response.set_generation(header.generation());
  response.set_checksum(header.checksum());
  *response.mutable_row_lengths() = header.row_lengths();
  *response.mutable_warnings() = header.warnings();
  response.mutable_embeddings()->set_data_type(header.data_type());
  *response.mutable_embeddings()->mutable_shape() = header.shape();
  return response;
}

}  // namespace

Routes::Routes(const std::string& address, const config::ServerConfig& config)
    : limits_{.max_batch_size = config.limits.max_batch_size,
              .max_sequence_length = config.limits.max_sequence_length,
              .max_response_bytes = config.limits.max_response_bytes} {
  app::TableBudget budget(app::MemoryLimit());
  for (const config::ModelConfig& model : config.models) models_.Put(app::BuildModel(model, &budget).value().model);
  const auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
  own_ = v1::EmbeddingService::NewStub(channel);
  other_ = ::inference::GRPCInferenceService::NewStub(channel);
  region_ = std::make_unique<client::SharedRegion>(
      client::SharedRegion::Create(client::FromChannel(channel), kRegionBytes).value());
  std::fill(region_->bytes().begin(), region_->bytes().end(), kPoison);
}

Answer Routes::Core(v1::EmbedRequest request) const {
  auto model = models_.Find(request.model(), request.model_version());
  if (!model.ok()) return model.status();
  auto input = service::ToEmbedInput(&request);
  if (!input.ok()) return input.status();
  const auto plan = core::EmbedPlan::Create(*std::move(model), *std::move(input), limits_);
  if (!plan.ok()) return plan.status();
  v1::EmbedResponse response = service::ResponseWithoutData(*plan);
  std::string& data = *response.mutable_embeddings()->mutable_data();
  data.resize(plan->byte_size());
  plan->Compose(0, plan->row_count(), {reinterpret_cast<std::byte*>(data.data()), data.size()});
  return response;
}

Answer Routes::Embed(const v1::EmbedRequest& request) const {
  grpc::ClientContext context;
  v1::EmbedResponse response;
  const grpc::Status status = own_->Embed(&context, request, &response);
  if (!status.ok()) return wire::FromGrpcStatus(status);
  return response;
}

Answer Routes::EmbedToRegion(v1::EmbedRequest request) const {
  v1::SharedMemoryTarget& target = *request.mutable_output_target();
  target.set_region(region_->name());
  target.set_byte_size(kRegionBytes);
  Answer answer = Embed(request);
  if (answer.ok()) {
    answer->mutable_embeddings()->set_data(TakeResult(answer->written().offset(), answer->written().byte_size()));
    answer->clear_written();
    return answer;
  }
  const auto looked_at = std::span<const std::byte>(region_->bytes()).first(kLookedAtBytes);
  if (std::ranges::all_of(looked_at, [](std::byte each) { return each == kPoison; })) return answer;
  return absl::InternalError(absl::StrCat("written in spite of ", answer.status().ToString()));
}

Answer Routes::EmbedChunks(const v1::EmbedRequest& request, std::int64_t max_chunk_bytes) const {
  v1::EmbedChunksRequest wanted;
  *wanted.mutable_request() = request;
  wanted.set_max_chunk_bytes(max_chunk_bytes);
  grpc::ClientContext context;
  const auto reader = own_->EmbedChunks(&context, wanted);
  v1::EmbedResponse response;
  std::int64_t rows = 0;
  bool in_order = true, last = false;
  for (v1::EmbedChunksResponse chunk; reader->Read(&chunk); last = chunk.last()) {
    if (chunk.has_header()) response = WithoutData(chunk.header());
    in_order = in_order && !last && chunk.first_row() == rows;
    rows += chunk.row_count();
    response.mutable_embeddings()->mutable_data()->append(chunk.data());
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return wire::FromGrpcStatus(status);
  if (!in_order || !last) return absl::InternalError("the blocks of rows are not in order, or do not end");
  return response;
}

std::vector<Answer> Routes::EmbedStream(const std::vector<v1::EmbedRequest>& requests) const {
  grpc::ClientContext context;
  const auto stream = own_->EmbedStream(&context);
  for (const v1::EmbedRequest& request : requests) {
    v1::EmbedStreamRequest item;
    *item.mutable_request() = request;
    stream->Write(item);
  }
  stream->WritesDone();
  std::vector<Answer> answers;
  for (v1::EmbedStreamResponse item; stream->Read(&item);) {
    if (item.has_response()) {
      answers.emplace_back(item.response());
    } else {
      answers.emplace_back(wire::FromRequestStatus(item.error()));
    }
  }
  const grpc::Status status = stream->Finish();
  answers.resize(requests.size(), absl::InternalError(absl::StrCat("no answer; ", status.error_message())));
  return answers;
}

absl::StatusOr<v1::EmbedBagsResponse> Routes::EmbedBags(const v1::EmbedBagsRequest& request) const {
  grpc::ClientContext context;
  v1::EmbedBagsResponse response;
  const grpc::Status status = own_->EmbedBags(&context, request, &response);
  if (!status.ok()) return wire::FromGrpcStatus(status);
  return response;
}

InferAnswer Routes::Infer(const ::inference::ModelInferRequest& request) const {
  grpc::ClientContext context;
  ::inference::ModelInferResponse response;
  const grpc::Status status = other_->ModelInfer(&context, request, &response);
  if (!status.ok()) return wire::FromGrpcStatus(status);
  return response;
}

InferAnswer Routes::InferInRegion(const InferCall& call) const {
  ::inference::ModelInferRequest request = call.request;
  std::int64_t offset = 8;  // no more than elements need
  for (std::size_t i = 0; i < call.data.size(); ++i) {
    const std::string& data = call.data[i];
    std::memcpy(region_->bytes().data() + offset, data.data(), data.size());
    const auto size = static_cast<std::int64_t>(data.size());
    PutInRegion(region_->name(), offset, size, request.mutable_inputs(static_cast<int>(i)));
    offset += (size + 8) / 8 * 8;
  }
  for (int i = 0; i < request.outputs_size(); ++i) {
    PutInRegion(region_->name(), kRegionBytes / 2 + i * kOutputBytes, kOutputBytes, request.mutable_outputs(i));
  }
  InferAnswer answer = Infer(request);
  std::fill_n(region_->bytes().begin(), offset, kPoison);
  if (!answer.ok()) return answer;
  for (int i = 0; i < answer->outputs_size(); ++i) {
    auto& parameters = *answer->mutable_outputs(i)->mutable_parameters();
    if (parameters.empty()) continue;
    answer->set_raw_output_contents(i, TakeResult(parameters["shared_memory_offset"].int64_param(),
                                                  parameters["shared_memory_byte_size"].int64_param()));
    parameters.clear();
  }
  return answer;
}

std::vector<InferAnswer> Routes::InferStream(const std::vector<::inference::ModelInferRequest>& requests) const {
  grpc::ClientContext context;
  const auto stream = other_->ModelStreamInfer(&context);
  for (const ::inference::ModelInferRequest& request : requests) stream->Write(request);
  stream->WritesDone();
  std::vector<InferAnswer> answers;
  for (::inference::ModelStreamInferResponse item; stream->Read(&item);) {
    if (item.error_message().empty()) {
      answers.emplace_back(item.infer_response());
    } else {
      answers.emplace_back(absl::UnknownError(item.error_message()));
    }
  }
  const grpc::Status status = stream->Finish();
  answers.resize(requests.size(), absl::InternalError(absl::StrCat("no answer; ", status.error_message())));
  return answers;
}

std::string Routes::TakeResult(std::int64_t offset, std::int64_t byte_size) const {
  const auto bytes = region_->bytes().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(byte_size));
  std::string taken(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::fill(bytes.begin(), bytes.end(), kPoison);
  return taken;
}

}  // namespace embd::testing

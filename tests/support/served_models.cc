#include "tests/support/served_models.h"

#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "embd/client/channel.h"
#include "server/app/memory_limit.h"
#include "server/app/model_builder.h"
#include "server/app/table_budget.h"
#include "server/core/engine/embed_plan.h"
#include "server/core/engine/model_registry.h"

namespace embd::testing {
namespace {

using client::Embedding;
using client::EmbedRequest;

core::ElementType ToElementType(client::DataType type) {
  switch (type) {
    case client::DataType::kFloat16: return core::ElementType::kFloat16;
    case client::DataType::kBfloat16: return core::ElementType::kBFloat16;
    default: return core::ElementType::kFloat32;
  }
}

core::Part ToPart(client::Part part) {
  switch (part) {
    case client::Part::kToken: return core::Part::kToken;
    case client::Part::kPosition: return core::Part::kPosition;
    default: return core::Part::kComposed;
  }
}

core::EmbedInput ToInput(const EmbedRequest& request) {
  core::EmbedInput input = {.part = ToPart(request.part),
                            .output_type = ToElementType(request.output_type),
                            .batch_size = request.batch_size,
                            .sequence_length = request.sequence_length,
                            .ids = request.ids,
                            .position_offsets = request.position_offsets,
                            .position_ids = request.position_ids,
                            .token_type_ids = request.token_type_ids,
                            .attention_mask = request.attention_mask,
                            .row_lengths = request.row_lengths,
                            .packed = request.ragged_layout == client::RaggedLayout::kPacked,
                            .pad_left = request.padding_side == client::PaddingSide::kLeft,
                            .unique = request.unique};
  if (request.inputs_embeds.has_value()) {
    const client::InputTensor& given = *request.inputs_embeds;
    const auto& bytes = given.bytes;
    input.inputs_embeds = {.type = ToElementType(given.data_type),
                           .shape = given.shape,
                           .data = {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
  }
  return input;
}

// The engine alone: no message, no gRPC.
absl::StatusOr<Embedding> EmbedInCore(const core::ModelRegistry& models, const core::EmbedLimits& limits,
                                      const EmbedRequest& request) {
  auto model = models.Find(request.model, request.model_version);
  if (!model.ok()) return model.status();
  const auto plan = core::EmbedPlan::Create(*std::move(model), ToInput(request), limits);
  if (!plan.ok()) return plan.status();
  auto data = std::make_unique<std::byte[]>(plan->byte_size());
  plan->Compose(0, plan->row_count(), {data.get(), plan->byte_size()});
  client::EmbedInfo info = {.model = plan->model().name(),
                            .model_version = plan->model().version(),
                            .generation = plan->model().generation(),
                            .checksum = plan->model().checksum(),
                            .warnings = plan->warnings(),
                            .data_type = request.output_type,
                            .shape = plan->output_shape(),
                            .row_lengths = plan->row_lengths(),
                            .unique_ids = plan->distinct().ids,
                            .inverse = plan->distinct().inverse};
  return Embedding(std::move(info), std::move(data), plan->byte_size());
}

absl::StatusOr<Embedding> EmbedByStream(const client::Client& client, const EmbedRequest& request) {
  auto stream = client.OpenStream();
  if (!stream.ok()) return stream.status();
  if (absl::Status status = stream->Send(request, "only"); !status.ok()) return status;
  if (absl::Status status = stream->CloseSending(); !status.ok()) return status;
  auto item = stream->Receive();
  if (!item.ok()) return item.status();
  if (!item->has_value()) return absl::InternalError("the stream ended without an answer");
  return std::move((*item)->result);
}

const client::CallOptions kWhole = {.chunks = client::Chunks::kNever};
// Of a few rows, and one short row left at the end.
const client::CallOptions kSmallChunks = {.chunks = client::Chunks::kAlways, .max_chunk_bytes = 1000};

// Learns the size by asking once, then asks again for the caller's memory, which begins poisoned.
absl::StatusOr<Embedding> EmbedIntoMemory(const client::Client& client, const EmbedRequest& request,
                                          const client::CallOptions& options) {
  const auto size = client.Embed(request, options);
  if (!size.ok()) return size.status();
  const std::size_t bytes = size->bytes().size();
  auto data = std::make_unique<std::byte[]>(bytes);
  std::fill_n(data.get(), bytes, std::byte{0xCD});
  auto info = client.EmbedInto(request, std::span<std::byte>(data.get(), bytes), options);
  if (!info.ok()) return info.status();
  return Embedding(*std::move(info), std::move(data), bytes);
}

}  // namespace

config::ModelConfig SmallModel(const std::string& name, std::int64_t vocab_size, std::int64_t embedding_dim,
                               std::int64_t max_context_length) {
  const config::SeededRows rows = {.std = 1.0, .seed = 7};
  config::ModelConfig model = {.name = name, .token = config::SeededTokens{vocab_size, embedding_dim, rows}};
  if (max_context_length > 0)
    model.position = config::LearnedPositions{config::SeededPositions{max_context_length, rows}};
  return model;
}

ServedModels::ServedModels(config::ServerConfig config, const app::EmbeddingServer::Servables& others) {
  std::string name = (std::filesystem::temp_directory_path() / "embd-test-XXXXXX").string();
  folder_ = mkdtemp(name.data());
  config.listen = {"127.0.0.1:0", "unix:" + folder_ + "/socket"};
  auto server = app::EmbeddingServer::Start(config, others);
  if (!server.ok()) {
    std::fprintf(stderr, "the test's server does not start: %s\n", server.status().ToString().c_str());
    std::abort();
  }
  server_ = *std::move(server);
}

ServedModels::~ServedModels() {
  server_.reset();
  std::filesystem::remove_all(folder_);
}

client::Client ServedModels::TcpClient() const { return client::Client::Connect(tcp_address()).value(); }
client::Client ServedModels::UnixClient() const { return client::Client::Connect(unix_address()).value(); }
client::Client ServedModels::InProcessClient() const {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  return client::FromChannel(server_->InProcessChannel(arguments));
}

Route CoreRoute(const config::ServerConfig& config) {
  auto models = std::make_shared<core::ModelRegistry>();
  app::TableBudget budget(app::MemoryLimit());
  for (const config::ModelConfig& model : config.models) models->Put(app::BuildModel(model, &budget).value().model);
  const core::EmbedLimits limits = {.max_batch_size = config.limits.max_batch_size,
                                    .max_sequence_length = config.limits.max_sequence_length,
                                    .max_response_bytes = config.limits.max_response_bytes};
  return {"core", [models, limits](const EmbedRequest& request) { return EmbedInCore(*models, limits, request); }};
}

std::vector<Route> AllRoutes(const config::ServerConfig& config, const ServedModels& served) {
  const client::Client tcp = served.TcpClient();
  const client::Client unix_socket = served.UnixClient();
  const client::Client in_process = served.InProcessClient();
  return {
      CoreRoute(config),
      {"in_process", [in_process](const EmbedRequest& request) { return in_process.Embed(request, kWhole); }},
      {"in_process_stream", [in_process](const EmbedRequest& request) { return EmbedByStream(in_process, request); }},
      {"tcp", [tcp](const EmbedRequest& request) { return tcp.Embed(request, kWhole); }},
      {"tcp_async", [tcp](const EmbedRequest& request) { return tcp.EmbedAsync(request).get(); }},
      {"tcp_chunks", [tcp](const EmbedRequest& request) { return tcp.Embed(request, kSmallChunks); }},
      {"tcp_chunks_into", [tcp](const EmbedRequest& request) { return EmbedIntoMemory(tcp, request, kSmallChunks); }},
      {"tcp_into", [tcp](const EmbedRequest& request) { return EmbedIntoMemory(tcp, request, kWhole); }},
      {"tcp_stream", [tcp](const EmbedRequest& request) { return EmbedByStream(tcp, request); }},
      {"unix", [unix_socket](const EmbedRequest& request) { return unix_socket.Embed(request, kWhole); }},
      {"unix_stream", [unix_socket](const EmbedRequest& request) { return EmbedByStream(unix_socket, request); }},
  };
}

}  // namespace embd::testing

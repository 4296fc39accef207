#include "embd/client/client.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/src/embed_delivery.h"

namespace embd::client {
namespace {

absl::Status SizesDiffer(const EmbedInfo& info, std::size_t byte_size, std::size_t given) {
  return absl::InvalidArgumentError(absl::StrCat("the given memory has ", given, " bytes, but the result has ",
                                                 byte_size, ": ", DataTypeName(info.data_type), " of shape (",
                                                 absl::StrJoin(info.shape, ", "), ")"));
}

// Where Embed puts a tensor: allocated once its size is known.
struct OwnMemory {
  std::unique_ptr<std::byte[]> data;
  std::size_t byte_size = 0;

  absl::StatusOr<std::span<std::byte>> Place(std::size_t size) {
    auto memory = Allocate(size);
    if (!memory.ok()) return memory.status();
    data = *std::move(memory);
    byte_size = size;
    return std::span(data.get(), size);
  }

  absl::StatusOr<Embedding> Take(absl::StatusOr<EmbedInfo> info) {
    if (!info.ok()) return info.status();
    return Embedding(*std::move(info), std::move(data), byte_size);
  }
};

}  // namespace

Client::Client(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

absl::StatusOr<Embedding> Client::Embed(const EmbedRequest& request, const CallOptions& options) const {
  OwnMemory memory;
  auto info = transport_->Embed(
      request, [&memory](const EmbedInfo&, std::size_t byte_size) { return memory.Place(byte_size); }, options);
  return memory.Take(std::move(info));
}

absl::StatusOr<EmbedInfo> Client::EmbedInto(const EmbedRequest& request, std::span<std::byte> out,
                                            const CallOptions& options) const {
  const auto place = [out](const EmbedInfo& info, std::size_t byte_size) -> absl::StatusOr<std::span<std::byte>> {
    if (byte_size != out.size()) return SizesDiffer(info, byte_size, out.size());
    return out;
  };
  return transport_->Embed(request, place, options);
}

absl::StatusOr<EmbedInfo> Client::EmbedInto(const EmbedRequest& request, std::span<float> out,
                                            const CallOptions& options) const {
  const auto place = [out](const EmbedInfo& info, std::size_t byte_size) -> absl::StatusOr<std::span<std::byte>> {
    if (info.data_type != DataType::kFloat32) {
      return absl::InvalidArgumentError(
          absl::StrCat("the given memory is for float32, but the result is ", DataTypeName(info.data_type)));
    }
    if (byte_size != out.size_bytes()) return SizesDiffer(info, byte_size, out.size_bytes());
    return std::as_writable_bytes(out);
  };
  return transport_->Embed(request, place, options);
}

absl::StatusOr<EmbedInfo> Client::EmbedSlices(const EmbedRequest& request, const Transport::Visit& visit,
                                              const CallOptions& options) const {
  return transport_->EmbedSlices(request, visit, options);
}

absl::StatusOr<EmbedInfo> Client::EmbedToRegion(const EmbedRequest& request, const CallOptions& options) const {
  if (!request.output_target.has_value()) return absl::InvalidArgumentError("the request has no output_target");
  const auto nothing = [](const EmbedInfo&, std::size_t) { return std::span<std::byte>(); };
  return transport_->Embed(request, nothing, options);
}

void Client::EmbedAsync(const EmbedRequest& request, std::function<void(absl::StatusOr<Embedding>)> done,
                        const CallOptions& options) const {
  auto memory = std::make_shared<OwnMemory>();
  transport_->EmbedAsync(
      request, [memory](const EmbedInfo&, std::size_t byte_size) { return memory->Place(byte_size); }, options,
      [memory, done = std::move(done)](absl::StatusOr<EmbedInfo> info) { done(memory->Take(std::move(info))); });
}

std::future<absl::StatusOr<Embedding>> Client::EmbedAsync(const EmbedRequest& request,
                                                          const CallOptions& options) const {
  auto promise = std::make_shared<std::promise<absl::StatusOr<Embedding>>>();
  auto future = promise->get_future();
  EmbedAsync(
      request, [promise](absl::StatusOr<Embedding> result) { promise->set_value(std::move(result)); }, options);
  return future;
}

absl::StatusOr<EmbedStream> Client::OpenStream(const CallOptions& options) const {
  auto stream = transport_->OpenStream(options);
  if (!stream.ok()) return stream.status();
  return EmbedStream(*std::move(stream));
}

absl::StatusOr<RotatedVectors> Client::Rotate(const RotateRequest& request, const CallOptions& options) const {
  return transport_->Rotate(request, options);
}

absl::StatusOr<client::RotaryTable> Client::RotaryTable(const RotaryTableRequest& request,
                                                        const CallOptions& options) const {
  return transport_->GetRotaryTable(request, options);
}

absl::StatusOr<std::vector<ModelSummary>> Client::ListModels(const CallOptions& options) const {
  return transport_->ListModels(options);
}

absl::StatusOr<ModelDescription> Client::DescribeModel(const DescribeModelRequest& request,
                                                       const CallOptions& options) const {
  return transport_->DescribeModel(request, options);
}

absl::StatusOr<TokenIds> Client::LookUpTokens(const LookUpTokensRequest& request, const CallOptions& options) const {
  return transport_->LookUpTokens(request, options);
}

absl::StatusOr<NeighbourCurve> Client::NeighbourSimilarity(const NeighbourSimilarityRequest& request,
                                                           const CallOptions& options) const {
  return transport_->NeighbourSimilarity(request, options);
}

absl::StatusOr<PooledBags> Client::EmbedBags(const EmbedBagsRequest& request, const CallOptions& options) const {
  return transport_->EmbedBags(request, options);
}

absl::StatusOr<Gradients> Client::Gradient(const GradientRequest& request, const CallOptions& options) const {
  return transport_->Gradient(request, options);
}

absl::StatusOr<Projection> Client::Project(const ProjectRequest& request, const CallOptions& options) const {
  return transport_->Project(request, options);
}

absl::StatusOr<client::TableStatistics> Client::TableStatistics(const TableStatisticsRequest& request,
                                                                const CallOptions& options) const {
  return transport_->TableStatistics(request, options);
}

absl::StatusOr<client::CosineSimilarities> Client::CosineSimilarities(const CosineSimilaritiesRequest& request,
                                                                      const CallOptions& options) const {
  return transport_->CosineSimilarities(request, options);
}

absl::StatusOr<client::NearestTokens> Client::NearestTokens(const NearestTokensRequest& request,
                                                            const CallOptions& options) const {
  return transport_->NearestTokens(request, options);
}

absl::StatusOr<client::PositionWavelengths> Client::PositionWavelengths(const PositionWavelengthsRequest& request,
                                                                        const CallOptions& options) const {
  return transport_->PositionWavelengths(request, options);
}

absl::StatusOr<client::ShiftProperty> Client::ShiftProperty(const ShiftPropertyRequest& request,
                                                            const CallOptions& options) const {
  return transport_->ShiftProperty(request, options);
}

absl::StatusOr<CellExplanation> Client::ExplainCell(const ExplainCellRequest& request,
                                                    const CallOptions& options) const {
  return transport_->ExplainCell(request, options);
}

absl::StatusOr<ServerInfo> Client::GetServerInfo(const CallOptions& options) const {
  return transport_->GetServerInfo(options);
}

absl::StatusOr<LoadedModel> Client::LoadModel(const std::string& name, const CallOptions& options) const {
  return transport_->LoadModel(name, options);
}

absl::Status Client::UnloadModel(const std::string& name, const CallOptions& options) const {
  return transport_->UnloadModel(name, options);
}

absl::StatusOr<ReloadReport> Client::ReloadConfig(const CallOptions& options) const {
  return transport_->ReloadConfig(options);
}

absl::Status Client::RegisterRegion(const Region& region, const CallOptions& options) const {
  return transport_->RegisterRegion(region, options);
}

absl::Status Client::UnregisterRegion(const std::string& name, const CallOptions& options) const {
  return transport_->UnregisterRegion(name, options);
}

absl::StatusOr<std::vector<Region>> Client::ListRegions(const CallOptions& options) const {
  return transport_->ListRegions(options);
}

absl::StatusOr<HealthStatus> Client::CheckHealth(const std::string& service, const CallOptions& options) const {
  return transport_->CheckHealth(service, options);
}

}  // namespace embd::client

#include "embd/client/fake_transport.h"

#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "client/fake/bags.h"
#include "client/fake/compose.h"
#include "client/fake/embed_checks.h"
#include "client/fake/explain.h"
#include "client/fake/gradient.h"
#include "client/fake/lookup.h"
#include "client/fake/narrow.h"
#include "client/fake/nearest.h"
#include "client/fake/position_bands.h"
#include "client/fake/project.h"
#include "client/fake/rotate.h"
#include "client/fake/statistics.h"
#include "client/fake/stream.h"
#include "client/src/mutex.h"
#include "embd/client/error.h"

namespace embd::client {

namespace {

absl::Status RegionsOff() {
  return ErrorWithReason(absl::StatusCode::kFailedPrecondition, "REGIONS_OFF", "this server maps no shared memory");
}

}  // namespace

class FakeTransport::State {
 public:
  Mutex mutex;
  std::map<std::string, FakeModel> models ABSL_GUARDED_BY(mutex);
  std::map<std::string, HealthStatus> health ABSL_GUARDED_BY(mutex);
  std::map<std::string, int> calls ABSL_GUARDED_BY(mutex);
  std::vector<EmbedRequest> embed_requests ABSL_GUARDED_BY(mutex);
  ServerInfo server_info ABSL_GUARDED_BY(mutex) = {.version = "fake",
                                                   .build = "fake",
                                                   .api_revision = 1,
                                                   .capabilities = {"embed_stream", "rotate"},
                                                   .simd_target = "SCALAR",
                                                   .limits = {.max_request_bytes = std::int64_t{64} << 20,
                                                              .max_response_bytes = std::int64_t{1} << 30,
                                                              .max_batch_size = 4096,
                                                              .max_sequence_length = 1 << 20,
                                                              .max_bytes_in_flight = std::int64_t{4} << 30}};
  std::map<std::string, std::int64_t> generations ABSL_GUARDED_BY(mutex);  // of models that were loaded again
  std::set<std::string> unloaded ABSL_GUARDED_BY(mutex);
  std::optional<ReloadReport> reload ABSL_GUARDED_BY(mutex);
  absl::Status failure ABSL_GUARDED_BY(mutex);
  int failures_left ABSL_GUARDED_BY(mutex) = 0;

  // What every call does first.
  absl::Status Enter(const std::string& method, const CallOptions& options) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    ++calls[method];
    if (options.cancel.stop_requested()) return absl::CancelledError("the call was cancelled");
    if (failures_left == 0) return absl::OkStatus();
    --failures_left;
    return failure;
  }

  absl::StatusOr<const FakeModel*> Find(const std::string& name, const std::string& version) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    const auto found = models.find(name);
    if (found == models.end()) {
      return ErrorWithReason(absl::StatusCode::kNotFound, "MODEL_NOT_FOUND", absl::StrCat("no model \"", name, "\""));
    }
    if (unloaded.contains(name)) {
      return ErrorWithReason(absl::StatusCode::kUnavailable, "MODEL_NOT_LOADED",
                             absl::StrCat("model \"", name, "\" is not loaded"));
    }
    if (!version.empty() && version != found->second.version) {
      return ErrorWithReason(absl::StatusCode::kNotFound, "VERSION_NOT_FOUND",
                             absl::StrCat("model \"", name, "\" has no version \"", version, "\""));
    }
    return &found->second;
  }

  // Null where no model is named.
  absl::StatusOr<const FakeModel*> FindUnlessEmpty(const std::string& name, const std::string& version) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (!name.empty()) return Find(name, version);
    if (version.empty()) return static_cast<const FakeModel*>(nullptr);
    return ErrorWithReason(absl::StatusCode::kInvalidArgument, "INVALID_OPTION", "model_version needs a model");
  }

  [[nodiscard]] std::int64_t GenerationOf(const std::string& name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    const auto found = generations.find(name);
    return found == generations.end() ? 1 : found->second;
  }

  absl::StatusOr<Embedding> Answer(const std::string& method, const EmbedRequest& request, const CallOptions& options) {
    const MutexLock lock(&mutex);
    embed_requests.push_back(request);
    if (absl::Status status = Enter(method, options); !status.ok()) return status;
    const auto model = Find(request.model, request.model_version);
    if (!model.ok()) return model.status();
    if (!request.if_checksum.empty() && request.if_checksum != (*model)->checksum) {
      return ErrorWithReason(
          absl::StatusCode::kFailedPrecondition, "TABLES_CHANGED",
          absl::StrCat("the tables of model \"", request.model, "\" have checksum \"", (*model)->checksum, "\""));
    }
    const auto checked = fake::CheckEmbed(**model, request, server_info.limits);
    if (!checked.ok()) return checked.status();
    if (request.output_target.has_value()) return RegionsOff();
    const DataType type = request.output_type == DataType::kUnspecified ? DataType::kFloat32 : request.output_type;
    const std::vector<float> values =
        request.unique ? fake::RowsOf(**model, checked->distinct.ids) : fake::Compose(**model, request, *checked);
    const std::size_t byte_size = values.size() * static_cast<std::size_t>(DataTypeSize(type));
    auto data = std::make_unique_for_overwrite<std::byte[]>(byte_size);
    fake::Narrow(values, type, data.get());
    return Embedding(
        {.model = (*model)->name,
         .model_version = (*model)->version,
         .generation = GenerationOf((*model)->name),
         .checksum = (*model)->checksum,
         .warnings = checked->warnings,
         .data_type = type,
         .shape = request.unique ? std::vector<std::int64_t>{checked->distinct.size(), (*model)->embedding_dim}
                                 : checked->batch.ReplyShape((*model)->embedding_dim),
         .row_lengths = request.row_lengths,
         .unique_ids = checked->distinct.ids,
         .inverse = checked->distinct.inverse},
        std::move(data), byte_size);
  }
};

FakeTransport::FakeTransport() : state_(std::make_shared<State>()) {}
FakeTransport::~FakeTransport() = default;

void FakeTransport::AddModel(FakeModel model) {
  const MutexLock lock(&state_->mutex);
  std::string name = model.name;
  state_->models.insert_or_assign(std::move(name), std::move(model));
}

void FakeTransport::FailNext(absl::Status status, int calls) {
  const MutexLock lock(&state_->mutex);
  state_->failure = std::move(status);
  state_->failures_left = calls;
}

void FakeTransport::SetServerInfo(ServerInfo info) {
  const MutexLock lock(&state_->mutex);
  state_->server_info = std::move(info);
}

void FakeTransport::SetReload(ReloadReport report) {
  const MutexLock lock(&state_->mutex);
  state_->reload = std::move(report);
}

void FakeTransport::SetHealth(const std::string& service, HealthStatus health) {
  const MutexLock lock(&state_->mutex);
  state_->health[service] = health;
}

std::vector<EmbedRequest> FakeTransport::embed_requests() const {
  const MutexLock lock(&state_->mutex);
  return state_->embed_requests;
}

int FakeTransport::calls(const std::string& method) const {
  const MutexLock lock(&state_->mutex);
  const auto found = state_->calls.find(method);
  return found == state_->calls.end() ? 0 : found->second;
}

absl::StatusOr<EmbedInfo> FakeTransport::Embed(const EmbedRequest& request, const Place& place,
                                               const CallOptions& options) {
  const auto answer = state_->Answer("Embed", request, options);
  if (!answer.ok()) return answer.status();
  const std::span<const std::byte> bytes = answer->bytes();
  const auto out = place(answer->info(), bytes.size());
  if (!out.ok()) return out.status();
  if (!bytes.empty()) std::memcpy(out->data(), bytes.data(), bytes.size());
  return answer->info();
}

absl::StatusOr<EmbedInfo> FakeTransport::EmbedSlices(const EmbedRequest& request, const Visit& visit,
                                                     const CallOptions& options) {
  const auto answer = state_->Answer("EmbedSlices", request, options);
  if (!answer.ok()) return answer.status();
  if (!answer->bytes().empty()) {
    if (absl::Status status = visit(answer->info(), answer->bytes()); !status.ok()) return status;
  }
  return answer->info();
}

void FakeTransport::EmbedAsync(const EmbedRequest& request, Place place, const CallOptions& options, EmbedDone done) {
  done(Embed(request, place, options));
}

absl::StatusOr<std::unique_ptr<StreamTransport>> FakeTransport::OpenStream(const CallOptions& options) {
  {
    const MutexLock lock(&state_->mutex);
    if (absl::Status status = state_->Enter("OpenStream", options); !status.ok()) return status;
  }
  return std::make_unique<fake::Stream>(
      [state = state_](const EmbedRequest& request) { return state->Answer("Send", request, {}); }, options);
}

absl::StatusOr<RotatedVectors> FakeTransport::Rotate(const RotateRequest& request, const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("Rotate", options); !status.ok()) return status;
  const auto model = state_->FindUnlessEmpty(request.model, request.model_version);
  if (!model.ok()) return model.status();
  return fake::Rotate(*model, request, state_->server_info.limits);
}

absl::StatusOr<RotaryTable> FakeTransport::GetRotaryTable(const RotaryTableRequest& request,
                                                          const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("RotaryTable", options); !status.ok()) return status;
  const auto model = state_->FindUnlessEmpty(request.model, request.model_version);
  if (!model.ok()) return model.status();
  return fake::MakeRotaryTable(*model, request, state_->server_info.limits);
}

absl::StatusOr<std::vector<ModelSummary>> FakeTransport::ListModels(const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("ListModels", options); !status.ok()) return status;
  std::vector<ModelSummary> result;
  for (const auto& [name, model] : state_->models) {
    if (state_->unloaded.contains(name)) continue;
    result.push_back(fake::Summarize(model));
    result.back().generation = state_->GenerationOf(name);
  }
  return result;
}

absl::StatusOr<ModelDescription> FakeTransport::DescribeModel(const DescribeModelRequest& request,
                                                              const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("DescribeModel", options); !status.ok()) return status;
  const auto model = state_->Find(request.model, request.model_version);
  if (!model.ok()) return model.status();
  return fake::Describe(**model);
}

absl::StatusOr<TokenIds> FakeTransport::LookUpTokens(const LookUpTokensRequest& request, const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("LookUpTokens", options); !status.ok()) return status;
  const auto model = state_->Find(request.model, request.model_version);
  if (!model.ok()) return model.status();
  return fake::FindTokens(**model, request);
}

absl::StatusOr<NeighbourCurve> FakeTransport::NeighbourSimilarity(const NeighbourSimilarityRequest& request,
                                                                  const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("NeighbourSimilarity", options); !status.ok()) return status;
  const auto model = state_->Find(request.model, request.model_version);
  if (!model.ok()) return model.status();
  return fake::CompareNeighbours(**model, request);
}

absl::StatusOr<PooledBags> FakeTransport::EmbedBags(const EmbedBagsRequest& request, const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("EmbedBags", options); !status.ok()) return status;
  return fake::PoolBags(request, state_->server_info.limits,
                        [this](const auto& name, const auto& version)
                            ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_->mutex) { return state_->Find(name, version); });
}

absl::StatusOr<Gradients> FakeTransport::Gradient(const GradientRequest& request, const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("Gradient", options); !status.ok()) return status;
  const auto model = state_->Find(request.model, request.model_version);
  if (!model.ok()) return model.status();
  return fake::FindGradients(**model, request, state_->server_info.limits);
}

absl::StatusOr<Projection> FakeTransport::Project(const ProjectRequest& request, const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("Project", options); !status.ok()) return status;
  const auto model = state_->Find(request.model, request.model_version);
  if (!model.ok()) return model.status();
  return fake::Project(**model, request);
}

absl::StatusOr<client::TableStatistics> FakeTransport::TableStatistics(const TableStatisticsRequest& request,
                                                                       const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("TableStatistics", options); !status.ok()) return status;
  const auto model = state_->Find(request.model, request.model_version);
  if (!model.ok()) return model.status();
  return fake::ComputeStatistics(**model, request);
}

absl::StatusOr<client::CosineSimilarities> FakeTransport::CosineSimilarities(const CosineSimilaritiesRequest& request,
                                                                             const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("CosineSimilarities", options); !status.ok()) return status;
  const auto model = state_->Find(request.model, request.model_version);
  if (!model.ok()) return model.status();
  return fake::CompareRows(**model, request);
}

absl::StatusOr<client::NearestTokens> FakeTransport::NearestTokens(const NearestTokensRequest& request,
                                                                   const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("NearestTokens", options); !status.ok()) return status;
  const auto model = state_->Find(request.model, request.model_version);
  if (!model.ok()) return model.status();
  return fake::FindNearest(**model, request);
}

absl::StatusOr<client::PositionWavelengths> FakeTransport::PositionWavelengths(
    const PositionWavelengthsRequest& request, const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("PositionWavelengths", options); !status.ok()) return status;
  const auto model = state_->FindUnlessEmpty(request.model, request.model_version);
  if (!model.ok()) return model.status();
  return fake::MeasureBands(*model, request);
}

absl::StatusOr<client::ShiftProperty> FakeTransport::ShiftProperty(const ShiftPropertyRequest&,
                                                                   const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("ShiftProperty", options); !status.ok()) return status;
  return absl::UnimplementedError("the fake fits no maps");
}

absl::StatusOr<CellExplanation> FakeTransport::ExplainCell(const ExplainCellRequest& request,
                                                           const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("ExplainCell", options); !status.ok()) return status;
  const auto model = state_->Find(request.model, request.model_version);
  if (!model.ok()) return model.status();
  return fake::Explain(**model, request, state_->server_info.limits);
}

absl::StatusOr<ServerInfo> FakeTransport::GetServerInfo(const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("GetServerInfo", options); !status.ok()) return status;
  return state_->server_info;
}

absl::StatusOr<HealthStatus> FakeTransport::CheckHealth(const std::string& service, const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("CheckHealth", options); !status.ok()) return status;
  const auto found = state_->health.find(service);
  if (found != state_->health.end()) return found->second;
  if (service.empty() || state_->models.contains(service)) return HealthStatus::kServing;
  return absl::NotFoundError(absl::StrCat("no service \"", service, "\""));
}

absl::StatusOr<LoadedModel> FakeTransport::LoadModel(const std::string& name, const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("LoadModel", options); !status.ok()) return status;
  const auto found = state_->models.find(name);
  if (found == state_->models.end()) return state_->Find(name, "").status();
  state_->unloaded.erase(name);
  const FakeModel& model = found->second;
  const std::int64_t generation = state_->generations[name] = state_->GenerationOf(name) + 1;
  return LoadedModel{.name = name, .version = model.version, .generation = generation, .checksum = model.checksum};
}

absl::Status FakeTransport::UnloadModel(const std::string& name, const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("UnloadModel", options); !status.ok()) return status;
  if (!state_->models.contains(name)) return state_->Find(name, "").status();
  state_->unloaded.insert(name);
  return absl::OkStatus();
}

absl::StatusOr<ReloadReport> FakeTransport::ReloadConfig(const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("ReloadConfig", options); !status.ok()) return status;
  if (state_->reload.has_value()) return *state_->reload;
  ReloadReport report;
  for (const auto& [name, model] : state_->models) report.unchanged.push_back(name);
  return report;
}

absl::Status FakeTransport::RegisterRegion(const Region&, const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("RegisterRegion", options); !status.ok()) return status;
  return RegionsOff();
}

absl::Status FakeTransport::UnregisterRegion(const std::string&, const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("UnregisterRegion", options); !status.ok()) return status;
  return RegionsOff();
}

absl::StatusOr<std::vector<Region>> FakeTransport::ListRegions(const CallOptions& options) {
  const MutexLock lock(&state_->mutex);
  if (absl::Status status = state_->Enter("ListRegions", options); !status.ok()) return status;
  return RegionsOff();
}

}  // namespace embd::client

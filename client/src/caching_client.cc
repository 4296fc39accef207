#include "embd/client/caching_client.h"

#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "client/src/cached_batch.h"
#include "client/src/cached_tables.h"
#include "client/src/cell_positions.h"
#include "client/src/embed_delivery.h"
#include "client/src/mutex.h"
#include "client/src/plain_reason.h"
#include "client/src/steady_time.h"
#include "embd/client/error.h"

namespace embd::client {
namespace {

constexpr int kLoads = 3;                                     // how often tables may change while one batch is made
constexpr std::int64_t kAnyPosition = std::int64_t{1} << 62;  // where no table ends them

// What is left of a call's options after part of its time is over.
class TimeLeft {
 public:
  explicit TimeLeft(const CallOptions& options)
      : options_(options), end_(SteadyNow() + options.timeout.value_or(absl::InfiniteDuration())) {}

  [[nodiscard]] CallOptions operator()() const {
    CallOptions left = options_;
    if (left.timeout.has_value()) left.timeout = end_ - SteadyNow();
    return left;
  }

 private:
  CallOptions options_;
  absl::Time end_;
};

bool SaysTablesChanged(const absl::Status& status) {
  return status.code() == absl::StatusCode::kFailedPrecondition && ErrorReason(status) == "TABLES_CHANGED";
}

// No model of that name, a call that the server does not know or allow, a reply that is too large.
bool SaysNothingOfTheCall(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kResourceExhausted) return ErrorReason(status) != "OVERLOADED";
  return status.code() == absl::StatusCode::kNotFound || status.code() == absl::StatusCode::kUnimplemented ||
         status.code() == absl::StatusCode::kPermissionDenied;
}

DataType OutputType(const EmbedRequest& request) {
  return request.output_type == DataType::kUnspecified ? DataType::kFloat32 : request.output_type;
}

// Warned of by the server, in words of its own.
bool GoesPastTraining(const EmbedRequest& request, const ModelDescription& model, const CellPositions& positions) {
  return request.part != Part::kToken && model.trained_context_length.has_value() &&
         positions.end() > *model.trained_context_length;
}

// Where the tensor of a composed call goes, once its size is known.
using Place = absl::FunctionRef<absl::StatusOr<std::span<std::byte>>(std::size_t byte_size)>;

}  // namespace

class CachingClient::State {
 public:
  State(Client client, absl::string_view model, const CachingOptions& options)
      : client_(std::move(client)), model_(model), options_(options) {}

  [[nodiscard]] const Client& client() const { return client_; }

  // What the composed tensor is, or nothing where the call must be passed on. `given` is the size of the caller's
  // memory, where it is the caller's.
  absl::StatusOr<std::optional<EmbedInfo>> Compose(const EmbedRequest& request, const TimeLeft& left,
                                                   std::optional<std::size_t> given, Place place) {
    for (int load = 0; load < kLoads; ++load) {
      const auto tables = Tables(left);
      if (!tables.ok()) return PassUnlessFailed(tables.status());
      auto result = ComposeFrom(**tables, request, left, given, place);
      if (result.ok()) return result;
      if (!SaysTablesChanged(result.status())) return PassUnlessFailed(result.status());
      Drop(*tables);
    }
    return Pass("the server's tables keep changing");
  }

  // Looks at the reply to a call that was passed on.
  void Learn(const EmbedRequest& request, const EmbedInfo& info) {
    if (request.model != model_ || !request.model_version.empty()) return;
    std::shared_ptr<CachedTables> tables;
    {
      const MutexLock lock(&mutex_);
      tables = tables_;
    }
    if (tables != nullptr && tables->model().checksum != info.checksum) Drop(tables);
  }

  CachingStatistics Statistics() const {
    CachingStatistics statistics;
    std::shared_ptr<CachedTables> tables;
    {
      const MutexLock lock(&mutex_);
      statistics = statistics_;
      tables = tables_;
    }
    if (tables == nullptr) return statistics;
    statistics.bytes_kept = static_cast<std::int64_t>(tables->byte_size());
    const ReaderLock lock(&tables->mutex());
    statistics.rows_kept = static_cast<std::int64_t>(tables->rows().size());
    return statistics;
  }

 private:
  absl::StatusOr<std::shared_ptr<CachedTables>> Tables(const TimeLeft& left) {
    {
      const MutexLock lock(&mutex_);
      if (tables_ != nullptr) return tables_;
    }
    auto model = client_.DescribeModel({.model = model_}, left());
    if (!model.ok()) return model.status();
    const auto server = client_.GetServerInfo(left());
    if (!server.ok()) return server.status();
    auto tables = std::make_shared<CachedTables>(*std::move(model), server->limits, options_);
    const MutexLock lock(&mutex_);
    if (tables_ == nullptr) tables_ = std::move(tables);
    return tables_;
  }

  void Drop(const std::shared_ptr<CachedTables>& tables) {
    const MutexLock lock(&mutex_);
    if (tables_ != tables) return;  // another call was quicker
    tables_ = nullptr;
    ++statistics_.tables_dropped;
  }

  std::nullopt_t Pass(std::string reason) {
    const MutexLock lock(&mutex_);
    ++statistics_.plain_calls;
    statistics_.plain_reason = std::move(reason);
    return std::nullopt;
  }

  // What a call ends with that the caller did not make: the server may well answer the caller's.
  absl::StatusOr<std::optional<EmbedInfo>> PassUnlessFailed(const absl::Status& status) {
    if (!SaysNothingOfTheCall(status)) return status;
    return Pass(absl::StrCat("the server says: ", status.message()));
  }

  absl::StatusOr<std::optional<EmbedInfo>> ComposeFrom(CachedTables& tables, const EmbedRequest& request,
                                                       const TimeLeft& left, std::optional<std::size_t> given,
                                                       Place place) {
    const ModelDescription& model = tables.model();
    std::string why = tables.why_plain();
    if (why.empty()) why = WhyRequestIsPlain(request, model, tables.limits());
    if (!why.empty()) return Pass(std::move(why));
    const bool adds_positions = request.part != Part::kToken && tables.has_positions();
    const auto positions = CellPositions::Read(request, adds_positions ? *model.max_context_length : kAnyPosition);
    if (!positions.has_value()) return Pass("positions are out of range or do not fit the shape");
    if (adds_positions && positions->end() > tables.position_capacity())
      return Pass("positions do not fit into max_bytes");
    if (GoesPastTraining(request, model, *positions)) return Pass("positions go past the trained context length");
    const std::size_t byte_size =
        request.ids.size() * tables.dim() * static_cast<std::size_t>(DataTypeSize(OutputType(request)));
    if (given.value_or(byte_size) != byte_size) return Pass("the given memory has another size than the result");

    CachedBatch batch(client_, request, tables, left);
    absl::Status status = adds_positions ? batch.NeedPositions(positions->end()) : absl::OkStatus();
    absl::StatusOr<bool> is_done = false;
    if (status.ok()) {
      is_done =
          batch.Compose(adds_positions ? &*positions : nullptr, options_.max_age, [&] { return place(byte_size); });
      status = is_done.status();
    }
    Count(batch.counts(), status.ok() && *is_done ? std::optional(byte_size) : std::nullopt);
    if (!status.ok()) return status;
    if (!*is_done) return Pass("other calls take the rows out of the cache");
    return EmbedInfo{.model = model.name,
                     .model_version = model.version,
                     .generation = tables.generation(),
                     .checksum = model.checksum,
                     .data_type = OutputType(request),
                     .shape = {request.batch_size, request.sequence_length, model.embedding_dim}};
  }

  void Count(const BatchCounts& counts, std::optional<std::size_t> delivered) {
    const MutexLock lock(&mutex_);
    statistics_.hits += counts.hits;
    statistics_.misses += counts.misses;
    statistics_.rows_fetched += counts.rows_fetched;
    statistics_.position_rows_fetched += counts.position_rows_fetched;
    statistics_.bytes_fetched += counts.bytes_fetched;
    if (!delivered.has_value()) return;
    ++statistics_.composed_calls;
    statistics_.bytes_delivered += static_cast<std::int64_t>(*delivered);
  }

  const Client client_;
  const std::string model_;
  const CachingOptions options_;
  mutable Mutex mutex_;
  std::shared_ptr<CachedTables> tables_ ABSL_GUARDED_BY(mutex_);
  CachingStatistics statistics_ ABSL_GUARDED_BY(mutex_);
};

CachingClient::CachingClient(std::shared_ptr<State> state) : state_(std::move(state)) {}

absl::StatusOr<CachingClient> CachingClient::Create(Client client, absl::string_view model,
                                                    const CachingOptions& options) {
  const DataType type = options.row_type;
  if (type != DataType::kUnspecified && type != DataType::kFloat32 && type != DataType::kFloat16 &&
      type != DataType::kBfloat16) {
    return absl::InvalidArgumentError(
        absl::StrCat("row_type is ", DataTypeName(type), "; allowed are float32, float16, bfloat16 or none"));
  }
  if (options.max_age < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_age is ", absl::FormatDuration(options.max_age), "; it must be at least 0"));
  }
  return CachingClient(std::make_shared<State>(std::move(client), model, options));
}

absl::StatusOr<Embedding> CachingClient::Embed(const EmbedRequest& request, const CallOptions& options) const {
  std::unique_ptr<std::byte[]> data;
  std::size_t size = 0;
  const TimeLeft left(options);
  auto info =
      state_->Compose(request, left, std::nullopt, [&](std::size_t byte_size) -> absl::StatusOr<std::span<std::byte>> {
        auto memory = Allocate(byte_size);
        if (!memory.ok()) return memory.status();
        data = *std::move(memory);
        size = byte_size;
        return std::span(data.get(), size);
      });
  if (!info.ok()) return info.status();
  if (info->has_value()) return Embedding(*std::move(*info), std::move(data), size);
  auto plain = state_->client().Embed(request, left());
  if (plain.ok()) state_->Learn(request, plain->info());
  return plain;
}

absl::StatusOr<EmbedInfo> CachingClient::EmbedInto(const EmbedRequest& request, std::span<std::byte> out,
                                                   const CallOptions& options) const {
  const TimeLeft left(options);
  auto info = state_->Compose(request, left, out.size(),
                              [out](std::size_t) -> absl::StatusOr<std::span<std::byte>> { return out; });
  if (!info.ok()) return info.status();
  if (info->has_value()) return *std::move(*info);
  auto plain = state_->client().EmbedInto(request, out, left());
  if (plain.ok()) state_->Learn(request, *plain);
  return plain;
}

absl::StatusOr<EmbedInfo> CachingClient::EmbedInto(const EmbedRequest& request, std::span<float> out,
                                                   const CallOptions& options) const {
  // Refused without a look at the cache, in the client's words.
  if (OutputType(request) != DataType::kFloat32) return state_->client().EmbedInto(request, out, options);
  return EmbedInto(request, std::as_writable_bytes(out), options);
}

CachingStatistics CachingClient::statistics() const { return state_->Statistics(); }

}  // namespace embd::client

#include "client/src/cached_batch.h"

#include <algorithm>
#include <limits>
#include <shared_mutex>
#include <utility>

#include "client/src/compose_rows.h"
#include "client/src/embed_delivery.h"
#include "embd/client/error.h"

namespace embd::client {
namespace {

constexpr int kRounds = 4;
constexpr std::int64_t kPositionStep = 64;

// How many rows of `row_bytes` one reply may have; 0 is no limit.
std::int64_t RowsACall(const ServerLimits& limits, std::size_t row_bytes) {
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  const std::int64_t by_length = limits.max_sequence_length > 0 ? limits.max_sequence_length : kNoLimit;
  const std::int64_t by_bytes =
      limits.max_response_bytes > 0 ? limits.max_response_bytes / static_cast<std::int64_t>(row_bytes) : kNoLimit;
  return std::max<std::int64_t>(1, std::min(by_length, by_bytes));
}

}  // namespace

CachedBatch::CachedBatch(const Client& client, const EmbedRequest& request, CachedTables& tables, Options options)
    : client_(client),
      request_(request),
      tables_(tables),
      options_(options),
      rows_(request.ids.size()),
      fetched_(request.ids.size()) {}

absl::Status CachedBatch::Ask(EmbedRequest request, std::span<std::byte> out) {
  request.model = tables_.model().name;
  request.batch_size = request.sequence_length == 0 ? 0 : 1;
  request.sequence_length = std::max<std::int64_t>(1, request.sequence_length);
  request.if_checksum = tables_.model().checksum;
  const auto info = client_.EmbedInto(request, out, options_());
  if (!info.ok()) return info.status();
  if (info->checksum != tables_.model().checksum) {  // of a server that does not know if_checksum
    return ErrorWithReason(absl::StatusCode::kFailedPrecondition, "TABLES_CHANGED", "the tables have changed");
  }
  tables_.Confirm(info->generation);
  counts_.bytes_fetched += static_cast<std::int64_t>(out.size());
  return absl::OkStatus();
}

absl::Status CachedBatch::Verify() { return Ask({.part = Part::kToken}, std::span<std::byte>()); }

absl::Status CachedBatch::NeedPositions(std::int64_t end) {
  const std::int64_t goal =
      std::min((end + kPositionStep - 1) / kPositionStep * kPositionStep, tables_.position_capacity());
  const std::size_t row_bytes = tables_.dim() * static_cast<std::size_t>(DataTypeSize(tables_.position_type()));
  for (std::int64_t first = tables_.positions_ready(); first < end; first = tables_.positions_ready()) {
    const std::int64_t count = std::min(goal - first, RowsACall(tables_.limits(), row_bytes));
    const std::size_t bytes = static_cast<std::size_t>(count) * row_bytes;
    auto memory = Allocate(bytes);
    if (!memory.ok()) return memory.status();
    const absl::Status status = Ask({.sequence_length = count,
                                     .part = Part::kPosition,
                                     .output_type = tables_.position_type(),
                                     .position_offsets = {first}},
                                    {memory->get(), bytes});
    if (!status.ok()) return status;
    counts_.position_rows_fetched += count;
    tables_.PutPositions(first, count, memory->get());
  }
  return absl::OkStatus();
}

absl::Status CachedBatch::FetchMissing() {
  const auto most = static_cast<std::size_t>(RowsACall(tables_.limits(), tables_.row_bytes()));
  for (std::size_t first = 0; first < missing_.size(); first += most) {
    const std::size_t count = std::min(most, missing_.size() - first);
    const std::size_t bytes = count * tables_.row_bytes();
    auto memory = Allocate(bytes);
    if (!memory.ok()) return memory.status();
    const auto begin = missing_.begin() + static_cast<std::ptrdiff_t>(first);
    const absl::Status status = Ask({.ids = {begin, begin + static_cast<std::ptrdiff_t>(count)},
                                     .sequence_length = static_cast<std::int64_t>(count),
                                     .part = Part::kToken,
                                     .output_type = tables_.row_type()},
                                    {memory->get(), bytes});
    if (!status.ok()) return status;
    counts_.rows_fetched += static_cast<std::int64_t>(count);
    for (std::size_t i = 0; i < count; ++i) fetched_rows_.push_back(memory->get() + i * tables_.row_bytes());
    fetched_memory_.push_back(*std::move(memory));
  }
  return absl::OkStatus();
}

void CachedBatch::FindRows() {
  missing_.clear();
  const RowCache& cache = tables_.rows();
  for (std::size_t cell = 0; cell < rows_.size(); ++cell) {
    const std::int64_t id = request_.ids[cell];
    if (const std::uint32_t place = cache.Find(id); place != RowCache::kNone) {
      cache.Use(place);
      rows_[cell] = cache.row(place);
    } else if (const std::uint32_t number = fetched_.Find(id); number == IdIndex::kNone) {
      rows_[cell] = nullptr;
      fetched_.Insert(id, static_cast<std::uint32_t>(fetched_ids_.size()));
      fetched_ids_.push_back(id);
      missing_.push_back(id);
    } else {
      rows_[cell] = number < fetched_rows_.size() ? fetched_rows_[number] : nullptr;
    }
  }
}

void CachedBatch::Write(const CellPositions* positions, std::span<std::byte> out) const {
  RowComposer composer(tables_.dim(), tables_.row_type(),
                       request_.output_type == DataType::kUnspecified ? DataType::kFloat32 : request_.output_type);
  const std::size_t row_bytes = rows_.empty() ? 0 : out.size() / rows_.size();
  std::size_t cell = 0;
  for (std::int64_t b = 0; b < request_.batch_size; ++b) {
    for (std::int64_t t = 0; t < request_.sequence_length; ++t, ++cell) {
      const float* const position = positions == nullptr ? nullptr : tables_.position_row(positions->At(b, t));
      composer.Compose(rows_[cell], position, out.data() + cell * row_bytes);
    }
  }
}

void CachedBatch::Keep() {
  if (fetched_rows_.empty()) return;
  const WriterLock lock(&tables_.mutex());
  for (std::size_t i = 0; i < fetched_rows_.size(); ++i) tables_.rows_to_fill().Put(fetched_ids_[i], fetched_rows_[i]);
}

absl::StatusOr<bool> CachedBatch::Compose(const CellPositions* positions, absl::Duration max_age,
                                          absl::FunctionRef<absl::StatusOr<std::span<std::byte>>()> place) {
  for (int round = 0; round < kRounds; ++round) {
    {
      const ReaderLock lock(&tables_.mutex());
      FindRows();
      if (round == 0) {
        counts_.misses = std::count(rows_.begin(), rows_.end(), nullptr);
        counts_.hits = static_cast<std::int64_t>(rows_.size()) - counts_.misses;
      }
      if (missing_.empty() && (round > 0 || tables_.age() < max_age)) {
        const auto out = place();
        if (!out.ok()) return out.status();
        Write(positions, *out);
        break;
      }
      if (round == kRounds - 1) return false;
    }
    if (absl::Status status = missing_.empty() ? Verify() : FetchMissing(); !status.ok()) return status;
  }
  Keep();
  return true;
}

}  // namespace embd::client

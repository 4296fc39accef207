// Hot path: no lock that another request holds for long, no allocation per row, no log line above debug.
#include "server/service/embed_chunks.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/wire/frame.h"
#include "server/core/error.h"
#include "server/service/describe.h"
#include "server/service/embed_answer.h"
#include "server/service/payload_slice.h"

namespace embd::service {
namespace {

constexpr std::size_t kDefaultChunkBytes = std::size_t{126} << 10;
constexpr std::size_t kShortMessageBytes = std::size_t{128} << 10;
constexpr std::size_t kFraming = 64;  // at most, of a message beside its header and rows, and of gRPC
constexpr std::size_t kLargeChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kLargeChunkRows = 16384;  // of narrow rows, which take as long each as ones of some lines
constexpr std::size_t kCountedRequestBytes = std::size_t{64} << 10;

absl::Status CheckOptions(const v1::EmbedChunksRequest& request) {
  if (request.max_chunk_bytes() < 0 || request.max_chunk_bytes() > EmbedChunks::kMaxChunkBytes) {
    return core::InvalidArgument("INVALID_OPTION", absl::StrCat("max_chunk_bytes ", request.max_chunk_bytes(),
                                                                " is outside [0, ", EmbedChunks::kMaxChunkBytes, "]"));
  }
  for (const auto& [is_set, name] : {std::pair{request.request().unique(), "unique"},
                                     std::pair{request.request().has_output_target(), "output_target"}}) {
    if (is_set) {
      return core::InvalidArgument("INVALID_OPTION", absl::StrCat(name, " is for Embed, not for EmbedChunks"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRows(const core::EmbedPlan& plan, std::int64_t first_row) {
  if (first_row < 0 || first_row > plan.row_count()) {
    return core::InvalidArgument("INVALID_OPTION", absl::StrCat("first_row ", first_row, " is outside [0, ",
                                                                plan.row_count(), "], the rows of the result"));
  }
  if (plan.row_bytes() > static_cast<std::size_t>(EmbedChunks::kMaxChunkBytes)) {
    return core::Error(absl::StatusCode::kResourceExhausted, "RESPONSE_TOO_LARGE",
                       absl::StrCat("a row has ", plan.row_bytes(), " bytes, which exceeds the ",
                                    EmbedChunks::kMaxChunkBytes, " that a message of EmbedChunks may have"));
  }
  return absl::OkStatus();
}

void DescribeWhole(const core::EmbedPlan& plan, v1::EmbedChunksHeader* header) {
  header->set_model(plan.model().name());
  header->set_model_version(plan.model().version());
  header->set_generation(plan.model().generation());
  header->set_checksum(plan.model().checksum());
  header->set_data_type(ToDataType(plan.output_type()));
  for (const std::int64_t extent : plan.output_shape()) header->add_shape(extent);
  header->mutable_row_lengths()->Assign(plan.row_lengths().begin(), plan.row_lengths().end());
  header->set_total_rows(plan.row_count());
  header->set_total_bytes(static_cast<std::int64_t>(plan.byte_size()));
  for (const std::string& warning : plan.warnings()) header->add_warnings(warning);
}

}  // namespace

absl::StatusOr<EmbedChunks> EmbedChunks::Plan(const Backend& backend, v1::EmbedChunksRequest* request) {
  if (absl::Status status = CheckOptions(*request); !status.ok()) return status;
  core::EmbedLimits limits = backend.limits;
  limits.max_response_bytes = std::numeric_limits<std::int64_t>::max();
  auto plan = PlanEmbed(backend, request->mutable_request(), limits);
  if (!plan.ok()) return plan.status();
  if (absl::Status status = CheckRows(*plan, request->first_row()); !status.ok()) return status;
  const std::size_t kept = plan->request_bytes() < kCountedRequestBytes ? 0 : plan->request_bytes();
  std::optional<CountedBytes> counted;
  if (kept > 0) {
    auto count = backend.buffers->Count(kept);
    if (!count.ok()) return count.status();
    counted.emplace(*std::move(count));
  }
  const bool keep_short = request->max_chunk_bytes() == 0;
  const std::size_t wanted = keep_short ? kDefaultChunkBytes : static_cast<std::size_t>(request->max_chunk_bytes());
  const std::size_t chunk_bytes = std::min(wanted, static_cast<std::size_t>(backend.max_bytes_in_flight) - kept);
  return EmbedChunks(*std::move(plan), std::move(counted), request->first_row(), chunk_bytes, keep_short);
}

EmbedChunks::EmbedChunks(core::EmbedPlan plan, std::optional<CountedBytes> counted, std::int64_t first_row,
                         std::size_t chunk_bytes, bool keep_short)
    : plan_(std::move(plan)),
      counted_(std::move(counted)),
      next_row_(first_row),
      chunk_bytes_(chunk_bytes),
      keep_short_(keep_short) {}

bool EmbedChunks::AreLarge() const {
  const std::size_t fitting = std::max<std::size_t>(1, chunk_bytes_ / plan_.row_bytes());
  const std::size_t rows = std::min(fitting, static_cast<std::size_t>(plan_.row_count() - next_row_));
  return rows > kLargeChunkRows || rows * plan_.row_bytes() > kLargeChunkBytes || plan_.reads_growing_rows();
}

std::int64_t EmbedChunks::NextRows(std::size_t header_bytes) const {
  std::size_t bytes = chunk_bytes_;
  if (keep_short_) bytes = std::min(bytes, kShortMessageBytes - std::min(kShortMessageBytes, header_bytes + kFraming));
  const auto fitting = static_cast<std::int64_t>(bytes / plan_.row_bytes());
  return std::min(std::max<std::int64_t>(1, fitting), plan_.row_count() - next_row_);
}

absl::StatusOr<grpc::ByteBuffer> EmbedChunks::Next(Backend& backend, absl::FunctionRef<absl::Status()> interrupted,
                                                   PhaseClock* clock) {
  if (absl::Status status = interrupted(); !status.ok()) return status;
  v1::EmbedChunksResponse message;
  if (first_) DescribeWhole(plan_, message.mutable_header());
  const std::int64_t rows = NextRows(message.ByteSizeLong());
  auto buffer = backend.buffers->Take(static_cast<std::size_t>(rows) * plan_.row_bytes());
  if (!buffer.ok()) return buffer.status();
  absl::Status status =
      ComposeInto(backend, plan_, next_row_, rows, buffer->bytes(), core::Stores::kCached, interrupted);
  if (!status.ok()) return status;
  clock->EndCompute();
  message.set_first_row(next_row_);
  message.set_row_count(rows);
  next_row_ += rows;
  first_ = false;
  done_ = next_row_ == plan_.row_count();
  message.set_last(done_);
  const grpc::Slice slices[] = {
      grpc::Slice(wire::FrameHeader({{message, v1::EmbedChunksResponse::kDataFieldNumber}}, buffer->bytes().size())),
      PayloadSlice(*std::move(buffer))};
  grpc::ByteBuffer framed(slices, 2);
  clock->EndOutput();
  return framed;
}

}  // namespace embd::service

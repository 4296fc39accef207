// Hot path: no lock that another request holds for long, no allocation per row, no log line above debug.
#include "server/service/embed_answer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/wire/frame.h"
#include "server/core/error.h"
#include "server/observability/log.h"
#include "server/service/describe.h"
#include "server/service/embed_request.h"
#include "server/service/payload_slice.h"
#include "server/service/shared_work.h"

namespace embd::service {
namespace {

constexpr std::int64_t kLargeRows = 1024;
constexpr std::size_t kLargeReplyBytes = std::size_t{3} << 20;
constexpr std::size_t kSharedBytes = std::size_t{2} << 20;  // from here on several threads compose
constexpr std::size_t kPiecesOfAThread = 2;
constexpr std::size_t kPieceBytes = std::size_t{16} << 20;  // at most, composed between two looks at cancellation

v1::EmbedResponse ResponseWithoutTensor(const core::EmbedPlan& plan) {
  v1::EmbedResponse response;
  response.set_model(plan.model().name());
  response.set_model_version(plan.model().version());
  response.set_generation(plan.model().generation());
  response.set_checksum(plan.model().checksum());
  response.mutable_row_lengths()->Assign(plan.row_lengths().begin(), plan.row_lengths().end());
  response.mutable_unique_ids()->Assign(plan.distinct().ids.begin(), plan.distinct().ids.end());
  response.mutable_inverse()->Assign(plan.distinct().inverse.begin(), plan.distinct().inverse.end());
  for (const std::string& warning : plan.warnings()) response.add_warnings(warning);
  return response;
}

v1::Tensor TensorWithoutData(const core::EmbedPlan& plan) {
  v1::Tensor tensor;
  tensor.set_data_type(ToDataType(plan.output_type()));
  for (const std::int64_t extent : plan.output_shape()) tensor.add_shape(extent);
  return tensor;
}

absl::Status CheckTablesUnchanged(const core::Model& model, const std::string& if_checksum) {
  if (if_checksum.empty() || if_checksum == model.checksum()) return absl::OkStatus();
  return core::Error(absl::StatusCode::kFailedPrecondition, "TABLES_CHANGED",
                     absl::StrCat("the tables of model ", core::Quote(model.name()), " have checksum ",
                                  core::Quote(model.checksum()), ", but if_checksum is ", core::Quote(if_checksum)));
}

// Into how many rows at a time `bytes` are cut: some pieces for each thread, since not all begin at once, but none that
// takes too long. Whole rows of the batch, and whole groups of them, where these are not too much: the engine goes
// through a group column by column.
std::int64_t RowsOfAPiece(const core::EmbedPlan& plan, std::size_t bytes, int threads) {
  const std::size_t pieces = kPiecesOfAThread * static_cast<std::size_t>(threads);
  const std::size_t share = (bytes + pieces - 1) / pieces;
  const std::size_t piece = std::min(share, kPieceBytes);
  const std::int64_t rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(piece / plan.row_bytes()));
  for (const std::int64_t unit : {core::EmbedPlan::kRowsTogether * plan.sequence_length(), plan.sequence_length()}) {
    if (unit > 0 && rows >= unit) return rows / unit * unit;
  }
  return rows;
}

grpc::ByteBuffer Join(const std::string& header, ReplyBuffer buffer) {
  const grpc::Slice slices[] = {grpc::Slice(header), PayloadSlice(std::move(buffer))};
  return {slices, 2};
}

}  // namespace

absl::StatusOr<core::EmbedPlan> PlanEmbed(const Backend& backend, v1::EmbedRequest* request,
                                          const core::EmbedLimits& limits) {
  auto model = backend.models.Find(request->model(), request->model_version());
  if (!model.ok()) return model.status();
  if (absl::Status status = CheckTablesUnchanged(**model, request->if_checksum()); !status.ok()) return status;
  auto input = ToEmbedInput(request);
  if (!input.ok()) return input.status();
  return PlanModel(*std::move(model), *std::move(input), limits);
}

absl::StatusOr<core::EmbedPlan> PlanModel(std::shared_ptr<const core::Model> model, core::EmbedInput input,
                                          const core::EmbedLimits& limits) {
  auto plan = core::EmbedPlan::Create(std::move(model), std::move(input), limits);
  if (plan.ok() && plan->first_out_of_range()) {
    observability::LogWarning(absl::StrCat("model ", core::Quote(plan->model().name()), ": ", plan->warnings().front(),
                                           "; this is said once, DescribeModel counts them"));
  }
  return plan;
}

bool IsLarge(const core::EmbedPlan& plan) {
  return plan.row_count() > kLargeRows || plan.byte_size() > kLargeReplyBytes || plan.reads_growing_rows();
}

absl::Status ComposeInto(Backend& backend, const core::EmbedPlan& plan, std::int64_t first_row, std::int64_t row_count,
                         std::span<std::byte> out, core::Stores stores, absl::FunctionRef<absl::Status()> interrupted) {
  const std::int64_t piece_rows =
      out.size() < kSharedBytes ? row_count : RowsOfAPiece(plan, out.size(), backend.workers.threads());
  const auto compose_piece = [&](std::int64_t piece) {
    const std::int64_t done = piece * piece_rows;
    const std::int64_t rows = std::min(piece_rows, row_count - done);
    plan.Compose(first_row + done, rows,
                 out.subspan(static_cast<std::size_t>(done) * plan.row_bytes(),
                             static_cast<std::size_t>(rows) * plan.row_bytes()),
                 stores);
  };
  if (row_count <= piece_rows) {
    compose_piece(0);
  } else {
    const std::int64_t pieces = (row_count + piece_rows - 1) / piece_rows;
    if (absl::Status status = ShareWork(backend.workers, pieces, compose_piece, interrupted); !status.ok())
      return status;
  }
  absl::Status status = plan.model().CheckUndamaged();
  if (!status.ok() && plan.model().IsFirstToReportDamage()) {
    observability::LogWarning(std::string(status.message()));
  }
  return status;
}

core::Stores StoresForReply(std::size_t bytes) {
  // What several threads compose, one thread will send, much later than the caches would keep it for.
  return bytes < kSharedBytes ? core::Stores::kCached : core::Stores::kStreaming;
}

absl::StatusOr<ReplyBuffer> ComposeReply(Backend& backend, const core::EmbedPlan& plan,
                                         absl::FunctionRef<absl::Status()> interrupted) {
  if (absl::Status status = interrupted(); !status.ok()) return status;
  auto buffer = backend.buffers->Take(plan.byte_size());
  if (!buffer.ok()) return buffer.status();
  absl::Status status =
      ComposeInto(backend, plan, 0, plan.row_count(), buffer->bytes(), StoresForReply(plan.byte_size()), interrupted);
  if (!status.ok()) return status;
  return buffer;
}

v1::EmbedResponse ResponseWithoutData(const core::EmbedPlan& plan) {
  v1::EmbedResponse response = ResponseWithoutTensor(plan);
  *response.mutable_embeddings() = TensorWithoutData(plan);
  return response;
}

grpc::ByteBuffer FrameReply(const core::EmbedPlan& plan, ReplyBuffer buffer) {
  const std::string header =
      wire::FrameHeader({{ResponseWithoutTensor(plan), v1::EmbedResponse::kEmbeddingsFieldNumber},
                         {TensorWithoutData(plan), v1::Tensor::kDataFieldNumber}},
                        plan.byte_size());
  return Join(header, std::move(buffer));
}

grpc::ByteBuffer FrameStreamReply(const std::string& request_id, std::int64_t index, const core::EmbedPlan& plan,
                                  ReplyBuffer buffer) {
  v1::EmbedStreamResponse item;
  item.set_request_id(request_id);
  item.set_index(index);
  const std::string header =
      wire::FrameHeader({{item, v1::EmbedStreamResponse::kResponseFieldNumber},
                         {ResponseWithoutTensor(plan), v1::EmbedResponse::kEmbeddingsFieldNumber},
                         {TensorWithoutData(plan), v1::Tensor::kDataFieldNumber}},
                        plan.byte_size());
  return Join(header, std::move(buffer));
}

}  // namespace embd::service

// Hot path: no lock that another request holds for long, no allocation a bag, no log line above debug.
#include "server/service/bags_answer.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/wire/frame.h"
#include "server/core/error.h"
#include "server/observability/log.h"
#include "server/service/describe.h"
#include "server/service/output_type.h"
#include "server/service/payload_slice.h"
#include "server/service/raw_ids.h"
#include "server/service/shared_work.h"

namespace embd::service {
namespace {

constexpr int kMaxGroups = 1024;
constexpr std::size_t kLargeWorkBytes = std::size_t{4} << 20;   // read and written
constexpr std::size_t kSharedWorkBytes = std::size_t{1} << 20;  // from here on, other threads help

using core::InvalidArgument;

template <typename T>
std::span<const T> View(const google::protobuf::RepeatedField<T>& field) {
  return {field.data(), static_cast<std::size_t>(field.size())};
}

absl::StatusOr<core::BagMode> ToMode(v1::BagMode mode) {
  switch (mode) {
    case v1::BAG_MODE_SUM: return core::BagMode::kSum;
    case v1::BAG_MODE_UNSPECIFIED:
    case v1::BAG_MODE_MEAN: return core::BagMode::kMean;
    case v1::BAG_MODE_MAX: return core::BagMode::kMax;
    case v1::BAG_MODE_SQRTN: return core::BagMode::kSqrtN;
    default: return UnknownEnum("mode", mode, "SUM, MEAN, MAX, SQRTN");
  }
}

absl::Status ReadIdsTensor(const v1::Bag& bag, core::BagInput* input) {
  if (bag.ids_size() > 0) return InvalidArgument("INVALID_OPTION", "ids and ids_tensor exclude each other");
  const v1::Tensor& tensor = bag.ids_tensor();
  const bool ragged = bag.row_lengths_size() > 0;
  absl::Status status =
      CheckRawIds(tensor, ragged ? 1 : 2, ragged ? "(number of ids) with row_lengths" : "(B, T) without row_lengths");
  if (!status.ok()) return status;
  if (!ragged) input->even = {.bags = tensor.shape(0), .length = tensor.shape(1)};
  input->own_ids = ReadRawIds(tensor);
  input->ids = input->own_ids;
  return absl::OkStatus();
}

// The same refusal, which says where it is.
absl::Status At(absl::string_view place, const absl::Status& status) {
  absl::Status placed(status.code(), absl::StrCat(place, status.message()));
  status.ForEachPayload(
      [&placed](absl::string_view url, const absl::Cord& payload) { placed.SetPayload(url, payload); });
  return placed;
}

absl::Status AddBag(const Backend& backend, const v1::Bag& bag, core::BagPlan* plan) {
  auto model = backend.models.Find(bag.model(), bag.model_version());
  if (!model.ok()) return At("model: ", model.status());
  const auto mode = ToMode(bag.mode());
  if (!mode.ok()) return mode.status();
  core::BagInput input = {.model = *std::move(model),
                          .mode = *mode,
                          .ids = View(bag.ids()),
                          .row_lengths = View(bag.row_lengths()),
                          .weights = View(bag.weights())};
  if (bag.has_ids_tensor()) {
    if (absl::Status status = ReadIdsTensor(bag, &input); !status.ok()) return status;
  }
  return plan->Add(std::move(input));
}

void CountOutOfRange(const core::BagPlan& plan) {
  for (std::size_t group = 0; group < plan.group_count(); ++group) {
    const std::int64_t count = plan.out_of_range_ids(group);
    if (count == 0 || plan.model(group).CountOutOfRangeIds(count) > 0) continue;
    observability::LogWarning(absl::StrCat("model ", core::Quote(plan.model(group).name()), ": ", count,
                                           count == 1 ? " id was" : " ids were",
                                           " out of range; this is said once, DescribeModel counts them"));
  }
}

absl::Status CheckUndamaged(const core::BagPlan& plan) {
  for (std::size_t group = 0; group < plan.group_count(); ++group) {
    const core::Model& model = plan.model(group);
    absl::Status status = model.CheckUndamaged();
    if (status.ok()) continue;
    if (model.IsFirstToReportDamage()) observability::LogWarning(std::string(status.message()));
    return status;
  }
  return absl::OkStatus();
}

grpc::ByteBuffer Frame(const core::BagPlan& plan, ReplyBuffer buffer) {
  v1::EmbedBagsResponse response;
  for (std::size_t group = 0; group < plan.group_count(); ++group) {
    response.add_models(plan.model(group).name());
    response.add_checksums(plan.model(group).checksum());
  }
  const SharedPayload payload(std::move(buffer));
  std::vector<grpc::Slice> slices;
  for (const core::BagPlan::Tensor& part : plan.tensors()) {
    v1::Tensor tensor;
    tensor.set_data_type(ToDataType(plan.output_type()));
    tensor.add_shape(part.rows);
    tensor.add_shape(part.dim);
    slices.emplace_back(wire::FrameHeader(
        {{response, v1::EmbedBagsResponse::kEmbeddingsFieldNumber}, {tensor, v1::Tensor::kDataFieldNumber}},
        part.byte_size));
    if (part.byte_size > 0) slices.push_back(payload.Slice(part.offset, part.byte_size));
    response.Clear();  // said before the first tensor
  }
  return {slices.data(), slices.size()};
}

}  // namespace

const std::string& EmbedBagsWork::ModelName(const Request& request) {
  return request.bags_size() > 0 ? request.bags(0).model() : v1::Bag::default_instance().model();
}

absl::StatusOr<EmbedBagsWork> EmbedBagsWork::Plan(const Backend& backend, const Request& request, const Call&) {
  const auto output_type = ToOutputType(request.output_type());
  if (!output_type.ok()) return output_type.status();
  if (request.bags_size() < 1 || request.bags_size() > kMaxGroups) {
    return InvalidArgument("INVALID_OPTION",
                           absl::StrCat("bags has ", request.bags_size(), " values; allowed are 1 to ", kMaxGroups));
  }
  core::BagPlan plan(*output_type, request.concatenate(), backend.limits);
  for (int i = 0; i < request.bags_size(); ++i) {
    if (absl::Status status = AddBag(backend, request.bags(i), &plan); !status.ok())
      return At(absl::StrCat("bags[", i, "]."), status);
  }
  CountOutOfRange(plan);
  return EmbedBagsWork(std::move(plan));
}

bool EmbedBagsWork::IsLarge() const { return plan_.work_bytes() > kLargeWorkBytes; }

absl::StatusOr<grpc::ByteBuffer> EmbedBagsWork::Answer(Backend& backend, const Request& /*request*/,
                                                       const std::function<absl::Status()>& interrupted) const {
  if (absl::Status status = interrupted(); !status.ok()) return status;
  auto buffer = backend.buffers->Take(plan_.byte_size());
  if (!buffer.ok()) return buffer.status();
  const auto spread = [&](std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
    return plan_.work_bytes() > kSharedWorkBytes ? ShareWork(backend.workers, count, piece, interrupted)
                                                 : core::OneThread(count, piece);
  };
  if (absl::Status status = plan_.Run(buffer->bytes(), spread); !status.ok()) return status;
  if (absl::Status status = CheckUndamaged(plan_); !status.ok()) return status;
  return Frame(plan_, *std::move(buffer));
}

}  // namespace embd::service

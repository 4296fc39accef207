// Hot path: Run takes no lock, allocates nothing a bag and never logs.
#include "server/core/engine/bag_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/tensor/checked_math.h"
#include "server/core/tensor/first_outside.h"

namespace embd::core {
namespace {

constexpr std::size_t kLeastReadBytes = 64;                  // what memory hands out at once
constexpr std::size_t kPieceBytes = std::size_t{512} << 10;  // of rows, read by one call of the kernel

absl::Status InvalidShape(absl::string_view message) { return InvalidArgument("INVALID_SHAPE", message); }

absl::Status TooLarge(absl::string_view reason, absl::string_view message) {
  return Error(absl::StatusCode::kResourceExhausted, reason, message);
}

absl::Status CheckWeights(const BagInput& input) {
  if (input.weights.empty()) return absl::OkStatus();
  if (input.mode == BagMode::kMax) return InvalidArgument("INVALID_OPTION", "weights do not go with mode MAX");
  if (input.weights.size() != input.ids.size()) {
    return InvalidShape(absl::StrCat("weights has ", input.weights.size(),
                                     " values; allowed are none or one an id = ", input.ids.size()));
  }
  for (std::size_t i = 0; i < input.weights.size(); ++i) {
    if (std::isfinite(input.weights[i])) continue;
    return InvalidArgument("INVALID_OPTION", absl::StrCat("weights[", i, "] = ", input.weights[i], " is not finite"));
  }
  return absl::OkStatus();
}

absl::Status CheckIds(const BagInput& input) {
  const Model& model = *input.model;
  if (model.out_of_range() != OutOfRangePolicy::kError) return absl::OkStatus();
  const std::size_t i = FirstOutside(input.ids, static_cast<std::uint64_t>(model.vocab_size()));
  if (i == input.ids.size()) return absl::OkStatus();
  return InvalidArgument("ID_OUT_OF_RANGE", absl::StrCat("ids[", i, "] = ", input.ids[i], " is outside [0, ",
                                                         model.vocab_size(), ") of model ", Quote(model.name())));
}

// Of models that do not refuse them.
std::int64_t CountOutOfRange(const BagInput& input) {
  if (input.model->out_of_range() == OutOfRangePolicy::kError) return 0;
  const auto vocab_size = static_cast<std::uint64_t>(input.model->vocab_size());
  return std::ranges::count_if(input.ids,
                               [vocab_size](std::int64_t id) { return static_cast<std::uint64_t>(id) >= vocab_size; });
}

}  // namespace

absl::Status BagPlan::CheckLengths(const BagInput& input) const {
  const auto id_count = static_cast<std::int64_t>(input.ids.size());
  std::int64_t sum = 0;
  for (std::size_t b = 0; b < input.row_lengths.size(); ++b) {
    const std::int64_t length = input.row_lengths[b];
    if (length < 0) return InvalidShape(absl::StrCat("row_lengths[", b, "] = ", length, " is negative"));
    if (length > id_count - sum) {
      return InvalidShape(absl::StrCat("row_lengths sum to more than the ", id_count, " values of ids"));
    }
    if (length > limits_.max_sequence_length) {
      return TooLarge("REQUEST_TOO_LARGE",
                      absl::StrCat("row_lengths[", b, "] = ", length, " exceeds max_sequence_length ",
                                   limits_.max_sequence_length, " of this server; split the bag"));
    }
    sum += length;
  }
  if (sum == id_count) return absl::OkStatus();
  return InvalidShape(absl::StrCat("row_lengths sum to ", sum, ", but ids has ", id_count, " values"));
}

absl::Status BagPlan::CheckReplySize(const BagInput& input, std::int64_t bags) const {
  const auto bytes =
      CheckedProduct({bags, input.model->embedding_dim(), static_cast<std::int64_t>(ElementSize(output_type_))});
  if (bytes.has_value() && *bytes <= limits_.max_response_bytes - static_cast<std::int64_t>(byte_size_)) {
    return absl::OkStatus();
  }
  return TooLarge("RESPONSE_TOO_LARGE",
                  absl::StrCat("row_lengths with embedding_dim ", input.model->embedding_dim(), " make the ",
                               ElementTypeName(output_type_), " reply exceed max_response_bytes ",
                               limits_.max_response_bytes, " of this server; ask for fewer bags a call"));
}

absl::Status BagPlan::CheckBagCount(std::int64_t bags) const {
  if (bags > limits_.max_batch_size) {
    return TooLarge("REQUEST_TOO_LARGE", absl::StrCat("row_lengths has ", bags, " bags, which exceeds max_batch_size ",
                                                      limits_.max_batch_size, " of this server; split the bags"));
  }
  if (!concatenate_ || groups_.empty() || bags == groups_.front().bags()) return absl::OkStatus();
  return InvalidShape(absl::StrCat("row_lengths has ", bags, " bags, but bags[0] has ", groups_.front().bags(),
                                   "; concatenate needs as many"));
}

absl::Status BagPlan::Add(BagInput input) {
  Group group;
  const std::int64_t bags =
      input.even.has_value() ? input.even->bags : static_cast<std::int64_t>(input.row_lengths.size());
  if (absl::Status status = CheckBagCount(bags); !status.ok()) return status;
  if (input.even.has_value()) {
    group.even_lengths.assign(static_cast<std::size_t>(bags), input.even->length);
    input.row_lengths = group.even_lengths;
  }
  if (absl::Status status = CheckLengths(input); !status.ok()) return status;
  if (absl::Status status = CheckReplySize(input, bags); !status.ok()) return status;
  if (absl::Status status = CheckWeights(input); !status.ok()) return status;
  if (absl::Status status = CheckIds(input); !status.ok()) return status;
  const auto dim = static_cast<std::size_t>(input.model->embedding_dim());
  const std::size_t vector_bytes = dim * ElementSize(output_type_);
  group.offset = concatenate_ ? step_bytes_ : byte_size_;
  group.input = std::move(input);
  group.out_of_range_ids = CountOutOfRange(group.input);
  if (group.out_of_range_ids > 0 && group.input.model->out_of_range() == OutOfRangePolicy::kZero) {
    group.zero_row.resize(group.input.model->token().table.row_bytes());
  }
  groups_.push_back(std::move(group));
  step_bytes_ += vector_bytes;
  dim_sum_ += groups_.back().input.model->embedding_dim();
  byte_size_ += static_cast<std::size_t>(bags) * vector_bytes;
  bag_count_ += bags;
  CutIntoPieces(groups_.size() - 1);
  return absl::OkStatus();
}

void BagPlan::CutIntoPieces(std::size_t group) {
  const BagInput& input = groups_[group].input;
  const std::size_t row_bytes = std::max(input.model->token().table.row_bytes(), kLeastReadBytes);
  const std::size_t most_ids = std::max<std::size_t>(kPieceBytes / row_bytes, 1);
  Piece piece = {.group = group};
  for (const std::int64_t length : input.row_lengths) {
    longest_bag_ = std::max(longest_bag_, length);
    ++piece.bag_count;
    piece.id_count += static_cast<std::size_t>(length);
    if (piece.id_count < most_ids) continue;
    pieces_.push_back(piece);
    piece = {
        .group = group, .first_bag = piece.first_bag + piece.bag_count, .first_id = piece.first_id + piece.id_count};
  }
  if (piece.bag_count > 0) pieces_.push_back(piece);
  read_bytes_ += input.ids.size() * row_bytes;
}

std::vector<BagPlan::Tensor> BagPlan::tensors() const {
  if (concatenate_) return {{.rows = groups_.front().bags(), .dim = dim_sum_, .byte_size = byte_size_}};
  std::vector<Tensor> tensors;
  for (const Group& group : groups_) {
    const std::int64_t dim = group.input.model->embedding_dim();
    tensors.push_back({.rows = group.bags(),
                       .dim = dim,
                       .offset = group.offset,
                       .byte_size = static_cast<std::size_t>(group.bags() * dim) * ElementSize(output_type_)});
  }
  return tensors;
}

void BagPlan::RunPiece(const Piece& piece, std::span<std::byte> out) const {
  const Group& group = groups_[piece.group];
  const BagInput& input = group.input;
  const Model& model = *input.model;
  const Table& table = model.token().table;
  const bool to_zero = model.out_of_range() == OutOfRangePolicy::kZero;
  const std::size_t vector_bytes = static_cast<std::size_t>(table.dim()) * ElementSize(output_type_);
  const std::size_t step = concatenate_ ? step_bytes_ : vector_bytes;
  Pool({.rows = {.table = table.bytes().data(),
                 .row_count = static_cast<std::uint64_t>(table.rows()),
                 .dim = static_cast<std::size_t>(table.dim()),
                 .type = table.element_type(),
                 .scale = model.token_scale(),
                 .padding_idx = model.padding_idx().value_or(-1),
                 .stand_in = to_zero ? group.zero_row.data() : table.row(model.unk_id())},
        .mode = input.mode,
        .row_lengths = input.row_lengths.subspan(piece.first_bag, piece.bag_count),
        .ids = input.ids.data() + piece.first_id,
        .weights = input.weights.empty() ? nullptr : input.weights.data() + piece.first_id,
        .output_type = output_type_,
        .saturate = model.saturate(),
        .out = out.data() + group.offset + piece.first_bag * step,
        .out_step = step});
}

absl::Status BagPlan::Run(std::span<std::byte> out, ShareOut share_out) const {
  return share_out(static_cast<std::int64_t>(pieces_.size()),
                   [&](std::int64_t i) { RunPiece(pieces_[static_cast<std::size_t>(i)], out); });
}

}  // namespace embd::core

// Hot path: Compose takes no lock, allocates nothing a row and never logs.
#include "server/core/engine/embed_plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/engine/cell_rows.h"
#include "server/core/engine/embed_checks.h"
#include "server/core/error.h"

namespace embd::core {
namespace {

constexpr std::int64_t kPadding = -1;  // in place of a cell

}  // namespace

absl::StatusOr<EmbedPlan> EmbedPlan::Create(std::shared_ptr<const Model> model, EmbedInput input,
                                            const EmbedLimits& limits) {
  if (absl::Status status = CheckModelCan(*model, input); !status.ok()) return status;
  auto shape = BatchShape::Create(input);
  if (!shape.ok()) return shape.status();
  if (absl::Status status = CheckCounts(*model, input, *shape); !status.ok()) return status;
  if (absl::Status status = CheckLimits(*model, input, *shape, limits); !status.ok()) return status;
  auto positions = NumberCells(*model, input, *shape);
  if (!positions.ok()) return positions.status();
  if (absl::Status status = CheckValues(*model, input, *shape); !status.ok()) return status;
  DistinctIds distinct;
  if (input.unique) {
    distinct = FindDistinct(input.ids);
    if (absl::Status status = CheckDistinct(*model, input, distinct, limits); !status.ok()) return status;
  }
  return EmbedPlan(std::move(model), std::move(input), *std::move(shape), *std::move(positions), std::move(distinct));
}

EmbedPlan::EmbedPlan(std::shared_ptr<const Model> model, EmbedInput input, BatchShape shape, CellPositions positions,
                     DistinctIds distinct)
    : model_(std::move(model)),
      input_(std::move(input)),
      shape_(std::move(shape)),
      batch_size_(shape_.batch_size()),
      sequence_length_(shape_.sequence_length()),
      distinct_(std::move(distinct)),
      positions_(std::move(positions)) {
  if (model_->out_of_range() != OutOfRangePolicy::kError) ReplaceIdsOutOfRange();
  if (input_.unique) KeepDistinct();
  if (model_->dropout_mask_id().has_value() && part() == Part::kComposed && !input_.ids.empty()) DropMaskTokens();
  Warn();
}

void EmbedPlan::ReplaceIdsOutOfRange() {
  const std::int64_t count = core::ReplaceIdsOutOfRange(*model_, input_.ids);
  if (count == 0) return;
  const bool to_zero = model_->out_of_range() == OutOfRangePolicy::kZero;
  if (to_zero) zero_row_.resize(model_->token().table.row_bytes());
  if (input_.counts_out_of_range) first_out_of_range_ = model_->CountOutOfRangeIds(count) == 0;
  warnings_.push_back(absl::StrCat(count, count == 1 ? " id was" : " ids were", " outside [0, ", model_->vocab_size(),
                                   "), read as ", to_zero ? "a row of zeros" : absl::StrCat("id ", model_->unk_id())));
}

void EmbedPlan::KeepDistinct() {
  std::vector<std::int64_t> rows;
  rows.reserve(distinct_.ids.size());
  for (std::size_t cell = 0; rows.size() < distinct_.ids.size(); ++cell) {
    if (distinct_.inverse[cell] == static_cast<std::int64_t>(rows.size())) rows.push_back(input_.ids[cell]);
  }
  input_.ids = std::move(rows);
  shape_ = BatchShape::Packed(static_cast<std::int64_t>(input_.ids.size()));
}

void EmbedPlan::DropMaskTokens() {
  zero_row_.resize(model_->token().table.row_bytes());
  divisors_ = core::DropMaskTokens(*model_->dropout_mask_id(), shape_, input_.attention_mask, input_.ids);
}

void EmbedPlan::Warn() {
  const bool zeroes = (model_->zero_masked() || !divisors_.empty()) && part() == Part::kComposed;
  if (!input_.attention_mask.empty() && !zeroes && !MaskNumbersCells(*model_, input_)) {
    warnings_.push_back(absl::StrCat("attention_mask has no effect on this part of model ", Quote(model_->name())));
  }
  const auto trained = model_->trained_context_length();
  if (part() != Part::kToken && trained.has_value() && positions_.length > *trained) {
    warnings_.push_back(absl::StrCat("the longest row has ", positions_.length,
                                     " positions, more than trained_context_length ", *trained, " of model ",
                                     Quote(model_->name())));
  }
}

std::size_t EmbedPlan::request_bytes() const {
  std::size_t values = 0;
  for (const auto* const kept :
       {&input_.ids, &input_.position_offsets, &input_.position_ids, &input_.token_type_ids, &input_.attention_mask,
        &input_.row_lengths, &distinct_.ids, &distinct_.inverse, &positions_.rows}) {
    values += kept->size();
  }
  return values * sizeof(std::int64_t) + (input_.inputs_embeds.has_value() ? input_.inputs_embeds->data.size() : 0);
}

std::int64_t EmbedPlan::PositionRow(BatchShape::Place place, std::int64_t cell) const {
  return PositionRowOf(positions_, input_, shape_, place, cell);
}

const std::byte* EmbedPlan::TokenRow(std::int64_t cell) const {
  if (input_.inputs_embeds.has_value()) {
    const GivenVectors& given = *input_.inputs_embeds;
    const auto row_bytes = static_cast<std::size_t>(model_->embedding_dim()) * ElementSize(given.type);
    return reinterpret_cast<const std::byte*>(given.data.data()) + static_cast<std::size_t>(cell) * row_bytes;
  }
  const std::int64_t id = input_.ids[static_cast<std::size_t>(cell)];
  return id == kZeroRow ? zero_row_.data() : model_->token().table.row(id);
}

// Cells on their way to the kernel, kBlockRows at a time.
class EmbedPlan::Block {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): cells are filled as they are added
  Block(const EmbedPlan& plan, Stores stores) : plan_(plan), stores_(stores) {}

  void Add(const Cell& cell) {
    cells_[size_++] = cell;
    if (size_ == kBlockRows) Flush();
  }
  void Flush() {
    if (size_ > 0) plan_.ComposeCells(Cells(cells_.data(), size_), stores_);
    size_ = 0;
  }

 private:
  const EmbedPlan& plan_;
  const Stores stores_;
  std::array<Cell, kBlockRows> cells_;
  std::size_t size_ = 0;
};

const float* EmbedPlan::Divisors(Cells cells, BlockDivisors* divisors) const {
  if (divisors_.empty()) return nullptr;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    (*divisors)[i] = divisors_[static_cast<std::size_t>(cells[i].place.row)];
  }
  return divisors->data();
}

Term EmbedPlan::TokenTerm(Cells cells, BlockRows* rows) const {
  if (part() == Part::kPosition) return {};
  for (std::size_t i = 0; i < cells.size(); ++i) (*rows)[i] = TokenRow(cells[i].index);
  return {rows->data(),
          input_.inputs_embeds.has_value() ? input_.inputs_embeds->type : model_->token().table.element_type()};
}

Term EmbedPlan::PositionTerm(Cells cells, BlockRows* rows) const {
  if (!positions_.used) return {};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    (*rows)[i] = model_->position_row(PositionRow(cells[i].place, cells[i].index));
  }
  return {rows->data(), model_->position()->table.element_type()};
}

Term EmbedPlan::TypeTerm(Cells cells, BlockRows* rows) const {
  if (part() != Part::kComposed || !model_->token_types().has_value()) return {};
  const auto& types = input_.token_type_ids;
  if (types.empty() && model_->token_types()->only_when_sent) return {};
  const Table& table = *model_->token_type_table();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    (*rows)[i] = table.row(types.empty() ? 0 : types[static_cast<std::size_t>(cells[i].index)]);
  }
  return {rows->data(), table.element_type()};
}

void EmbedPlan::ComposeCells(Cells cells, Stores stores) const {
  BlockRows token_rows, position_rows, type_rows;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled as used
  BlockOut out_rows;                               // NOLINT(cppcoreguidelines-pro-type-member-init): likewise
  BlockDivisors divisors;                          // NOLINT(cppcoreguidelines-pro-type-member-init): likewise
  const Term token = TokenTerm(cells, &token_rows);
  Term addends[] = {TypeTerm(cells, &type_rows), PositionTerm(cells, &position_rows)};
  if (model_->position_before_type()) std::swap(addends[0], addends[1]);
  if (addends[0].rows == nullptr) std::swap(addends[0], addends[1]);
  for (std::size_t i = 0; i < cells.size(); ++i) out_rows[i] = cells[i].out;
  ComposeArguments arguments = {.dim = static_cast<std::size_t>(model_->embedding_dim()),
                                .row_count = cells.size(),
                                .output_type = output_type(),
                                .saturate = model_->saturate(),
                                .out_rows = out_rows.data(),
                                .stores = stores};
  if (part() == Part::kPosition) {
    arguments.first = addends[0];
  } else {
    arguments.first = token;
    arguments.scale = input_.inputs_embeds.has_value() ? 1.0f : model_->token_scale();
    arguments.divisors = Divisors(cells, &divisors);
    if (arguments.divisors != nullptr) arguments.scale = kKeptAtTraining;
    arguments.second = addends[0];
    arguments.third = addends[1];
  }
  const bool composed = part() == Part::kComposed;
  if (composed && input_.layer_norm && model_->layer_norm().has_value()) {
    arguments.layer_norm = &model_->layer_norm()->parameters;
  }
  core::Compose(arguments);
  if (ZeroesMasked()) ZeroMaskedRows(cells);
}

bool EmbedPlan::ZeroesMasked() const {
  return part() == Part::kComposed && model_->zero_masked() && !input_.attention_mask.empty();
}

void EmbedPlan::ZeroMaskedRows(Cells cells) const {
  for (const Cell& cell : cells) {
    if (input_.attention_mask[static_cast<std::size_t>(cell.index)] != 0) continue;
    std::memset(cell.out, 0, row_bytes());
  }
}

EmbedPlan::Run EmbedPlan::RunAt(std::int64_t row, std::int64_t end) const {
  if (shape_.is_packed()) return {row, end};
  if (!shape_.is_ragged()) return {row, std::min(end, (row / sequence_length() + 1) * sequence_length())};
  const std::int64_t b = row / sequence_length();
  const std::int64_t first = shape_.first_output_row(b);
  const std::int64_t behind = first + shape_.row_length(b);
  if (row < first) return {kPadding, std::min(first, end)};
  if (row < behind) return {shape_.row_start(b) + row - first, std::min(behind, end)};
  return {kPadding, std::min((b + 1) * sequence_length(), end)};
}

std::int64_t EmbedPlan::RowsTogetherAt(std::int64_t row, std::int64_t end) const {
  if (shape_.is_ragged() || !positions_.used || row % sequence_length() != 0) return 0;
  return std::min((end - row) / sequence_length(), kRowsTogether);
}

void EmbedPlan::AddColumns(std::int64_t row, std::int64_t batch_rows, std::byte* out, Block* block) const {
  const std::int64_t b = row / sequence_length();
  for (std::int64_t t = 0; t < sequence_length(); ++t) {
    for (std::int64_t i = 0; i < batch_rows; ++i) {
      const std::int64_t ahead = i * sequence_length() + t;
      block->Add({row + ahead, {b + i, t}, out + static_cast<std::size_t>(ahead) * row_bytes()});
    }
  }
}

void EmbedPlan::AddRun(std::int64_t first_cell, std::int64_t count, std::byte* out, Block* block) const {
  BatchShape::Place place = shape_.PlaceOf(first_cell);
  for (std::int64_t i = 0; i < count; ++i, place = shape_.Next(place), out += row_bytes()) {
    block->Add({first_cell + i, place, out});
  }
}

void EmbedPlan::Compose(std::int64_t first_row, std::int64_t row_count, std::span<std::byte> out, Stores stores) const {
  Block block(*this, stores);
  std::byte* next = out.data();
  const std::int64_t end = first_row + row_count;
  for (std::int64_t row = first_row; row < end;) {
    const std::int64_t together = RowsTogetherAt(row, end);
    const Run run = together > 0 ? Run{row, row + together * sequence_length()} : RunAt(row, end);
    const std::size_t bytes = static_cast<std::size_t>(run.end_row - row) * row_bytes();
    if (together > 0) {
      AddColumns(row, together, next, &block);
    } else if (run.first_cell == kPadding) {
      std::memset(next, 0, bytes);
    } else {
      AddRun(run.first_cell, run.end_row - row, next, &block);
    }
    next += bytes;
    row = run.end_row;
  }
  block.Flush();
}

}  // namespace embd::core

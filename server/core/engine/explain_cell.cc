#include "server/core/engine/explain_cell.h"

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/engine/cell_rows.h"
#include "server/core/engine/embed_plan.h"
#include "server/core/error.h"
#include "server/core/kernels/compose.h"

namespace embd::core {
namespace {

absl::Status CheckPlace(const BatchShape& shape, BatchShape::Place place) {
  const auto outside = [](absl::string_view name, std::int64_t value, std::int64_t end, absl::string_view of) {
    return InvalidArgument("INVALID_OPTION", absl::StrCat(name, " = ", value, " is outside [0, ", end, ")", of));
  };
  if (place.row < 0 || place.row >= shape.batch_size()) {
    return outside("batch_index", place.row, shape.batch_size(), "");
  }
  const std::int64_t length = shape.row_length(place.row);
  if (place.column >= 0 && place.column < length) return absl::OkStatus();
  return outside("sequence_index", place.column, length, absl::StrCat(" of row ", place.row));
}

// The sum that layer_norm.h tells, in its order.
template <typename TermOf>
double FixedOrderSum(const std::vector<float>& row, const TermOf& term) {
  std::array<double, 16> sums = {};
  for (std::size_t i = 0; i < row.size(); ++i) sums[i % sums.size()] += term(static_cast<double>(row[i]));
  for (std::size_t width = sums.size() / 2; width > 0; width /= 2) {
    for (std::size_t j = 0; j < width; ++j) sums[j] += sums[j + width];
  }
  return sums[0];
}

// A stored row; null: none.
struct Source {
  const std::byte* row = nullptr;
  ElementType type = ElementType::kFloat32;
};

// One cell of a batch that has been checked.
class Explainer {
 public:
  Explainer(const Model& model, EmbedInput input, const BatchShape& shape, const CellPositions& positions,
            BatchShape::Place place)
      : model_(model),
        input_(std::move(input)),
        shape_(shape),
        positions_(positions),
        place_(place),
        cell_(shape.row_start(place.row) + place.column) {}

  CellExplanation Explain() {
    result_.id = input_.ids[Index()];
    AddToken();
    AddType();
    AddPosition();
    Sum();
    const bool masked = !input_.attention_mask.empty() && input_.attention_mask[Index()] == 0;
    result_.zeroed = masked && model_.zero_masked();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::size_t Index() const { return static_cast<std::size_t>(cell_); }

  // What the kernel makes of the cell's row of each source; the token's goes first.
  [[nodiscard]] std::vector<float> Composed(const Source& first, const Source& second = {}, const Source& third = {},
                                            float scale = 1.0f, const float* divisor = nullptr) const {
    std::vector<float> values(static_cast<std::size_t>(model_.embedding_dim()));
    const auto term = [](const Source& source) {
      return source.row == nullptr ? Term{} : Term{&source.row, source.type};
    };
    Compose({.first = term(first),
             .scale = scale,
             .divisors = divisor,
             .second = term(second),
             .third = term(third),
             .dim = values.size(),
             .row_count = 1,
             .out = std::as_writable_bytes(std::span(values)).data()});
    return values;
  }

  void AddToken() {
    const Table& table = model_.token().table;
    if (model_.out_of_range() != OutOfRangePolicy::kError) ReplaceIdsOutOfRange(model_, input_.ids);
    scale_ = model_.token_scale();
    if (model_.dropout_mask_id().has_value()) {
      divisor_ = DropMaskTokens(*model_.dropout_mask_id(), shape_, input_.attention_mask,
                                input_.ids)[static_cast<std::size_t>(place_.row)];
      scale_ = kKeptAtTraining;
    }
    token_.type = table.element_type();
    if (const std::int64_t row = input_.ids[Index()]; row == kZeroRow) {
      zero_row_.resize(table.row_bytes());
      token_.row = zero_row_.data();
    } else {
      result_.token_row = row;
      token_.row = table.row(row);
    }
    result_.token_values = Composed(token_);
    result_.scaled_values = Composed(token_, {}, {}, scale_, Divisor());
    result_.token_scale = static_cast<double>(divisor_.has_value() ? scale_ / *divisor_ : scale_);
  }

  void AddType() {
    const auto& ids = input_.token_type_ids;
    if (!model_.token_types().has_value() || (ids.empty() && model_.token_types()->only_when_sent)) return;
    const Table& table = *model_.token_type_table();
    const std::int64_t row = ids.empty() ? 0 : ids[Index()];
    type_ = {table.row(row), table.element_type()};
    result_.token_type = {.row = row, .values = Composed(type_)};
  }

  void AddPosition() {
    if (!positions_.used) return;
    const std::int64_t row = PositionRowOf(positions_, input_, shape_, place_, cell_);
    position_ = {model_.position_row(row), model_.position()->table.element_type()};
    result_.position = {.row = row, .values = Composed(position_)};
  }

  void Sum() {
    Source second = type_;
    Source third = position_;
    if (model_.position_before_type()) std::swap(second, third);
    if (second.row == nullptr) std::swap(second, third);
    result_.sum = Composed(token_, second, third, scale_, Divisor());
    if (!model_.layer_norm().has_value()) return;
    const auto count = static_cast<double>(result_.sum.size());
    const double mean = FixedOrderSum(result_.sum, [](double x) { return x; }) / count;
    result_.layer_norm_mean = mean;
    result_.layer_norm_variance =
        FixedOrderSum(result_.sum, [mean](double x) { return (x - mean) * (x - mean); }) / count;
  }

  [[nodiscard]] const float* Divisor() const { return divisor_.has_value() ? &*divisor_ : nullptr; }

  const Model& model_;
  EmbedInput input_;
  const BatchShape& shape_;
  const CellPositions& positions_;
  const BatchShape::Place place_;
  const std::int64_t cell_;
  float scale_ = 1.0f;
  std::optional<float> divisor_;
  std::vector<std::byte> zero_row_;
  Source token_;
  Source type_;
  Source position_;
  CellExplanation result_;
};

}  // namespace

absl::StatusOr<CellExplanation> ExplainCell(const std::shared_ptr<const Model>& model, EmbedInput input,
                                            const EmbedLimits& limits, BatchShape::Place place) {
  input.counts_out_of_range = false;
  const auto plan = EmbedPlan::Create(model, input, limits);
  if (!plan.ok()) return plan.status();
  const auto shape = BatchShape::Create(input);
  if (!shape.ok()) return shape.status();
  if (absl::Status status = CheckPlace(*shape, place); !status.ok()) return status;
  const auto positions = NumberCells(*model, input, *shape);
  if (!positions.ok()) return positions.status();
  CellExplanation result = Explainer(*model, std::move(input), *shape, *positions, place).Explain();
  result.embedding.resize(static_cast<std::size_t>(model->embedding_dim()));
  plan->Compose(shape->first_output_row(place.row) + place.column, 1,
                std::as_writable_bytes(std::span(result.embedding)));
  return result;
}

}  // namespace embd::core

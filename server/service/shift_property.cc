#include "server/service/shift_property.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "server/core/diagnostics/shift_property.h"
#include "server/core/error.h"
#include "server/core/tensor/decode.h"
#include "server/service/sinusoidal_formula.h"
#include "server/service/table_choice.h"

namespace embd::service {
namespace {

constexpr std::int64_t kDefaultModelRows = 512;
constexpr std::int64_t kDefaultFormulaRows = 128;

using Stop = std::function<bool()>;

v1::ShiftPropertyResponse ToMessage(const core::ShiftWindow& window, bool is_rotation,
                                    const core::ShiftResidual& residual) {
  v1::ShiftPropertyResponse response;
  response.set_offset(window.offset);
  response.set_rows(window.rows);
  response.set_is_rotation(is_rotation);
  response.set_max_residual(residual.max);
  response.set_rms_residual(residual.rms);
  response.set_worst_position(residual.worst_position);
  response.set_worst_column(residual.worst_column);
  return response;
}

absl::StatusOr<v1::ShiftPropertyResponse> OfFormula(const v1::ShiftPropertyRequest& request, const Stop& stop) {
  const auto formula = ToFormula(request.sinusoidal());
  if (!formula.ok()) return formula.status();
  const auto window =
      core::ResolveShift(request.max_context_length(), request.offset(), kDefaultFormulaRows, core::kMaxShiftPositions);
  if (!window.ok()) return window.status();
  const std::int64_t dim = request.sinusoidal().embedding_dim();
  const auto rows = core::SinusoidalRows::Create(window->rows, dim, *formula);
  if (!rows.ok()) return rows.status();
  std::vector<float> row(static_cast<std::size_t>(dim));
  const auto residual = core::RotationResidual(
      core::SinusoidalBands(dim, *formula), dim, *window,
      [&](std::int64_t position, std::span<double> out) {
        rows->Compute(position, row.data());
        std::copy(row.begin(), row.end(), out.begin());
      },
      stop);
  if (!residual.ok()) return residual.status();
  return ToMessage(*window, true, *residual);
}

absl::StatusOr<v1::ShiftPropertyResponse> OfModel(const core::Model& model, const v1::ShiftPropertyRequest& request,
                                                  const Stop& stop) {
  const auto table = ChooseTable(model, v1::TABLE_KIND_POSITION, v1::TABLE_KIND_POSITION);
  if (!table.ok()) return table.status();
  const std::int64_t available = *model.max_context_length();
  const auto window = core::ResolveShift(request.max_context_length(), request.offset(),
                                         std::min(available, kDefaultModelRows), available);
  if (!window.ok()) return window.status();
  const std::int64_t first_row = model.position_rows() - available;  // behind those that are no positions
  const core::StoredRows stored = {
      .row = [&model, first_row](std::int64_t position) { return model.position_row(first_row + position); },
      .type = table->table->element_type(),
      .dim = model.embedding_dim()};
  const auto& formula = model.sinusoidal();
  const auto residual = formula.has_value() ? core::RotationResidual(
                                                  core::SinusoidalBands(stored.dim, *formula), stored.dim, *window,
                                                  [&stored](std::int64_t position, std::span<double> out) {
                                                    core::DecodeToDouble(stored.row(position), stored.type, out);
                                                  },
                                                  stop)
                                            : core::BestMapResidual(stored, *window, stop);
  if (!residual.ok()) return residual.status();
  if (absl::Status status = model.CheckUndamaged(); !status.ok()) return status;
  v1::ShiftPropertyResponse response = ToMessage(*window, formula.has_value(), *residual);
  response.set_model(model.name());
  response.set_model_version(model.version());
  return response;
}

}  // namespace

absl::StatusOr<v1::ShiftPropertyResponse> AnswerShiftProperty(const core::ModelRegistry& models,
                                                              const v1::ShiftPropertyRequest& request,
                                                              absl::FunctionRef<absl::Status()> interrupted) {
  if (request.model().empty() != request.has_sinusoidal()) {
    return core::InvalidArgument("INVALID_OPTION", "give exactly one of model and sinusoidal");
  }
  if (request.model().empty() && !request.model_version().empty()) {
    return core::InvalidArgument("INVALID_OPTION", "model_version needs a model");
  }
  absl::Status interruption;
  const Stop stop = [&interruption, &interrupted] { return !(interruption = interrupted()).ok(); };
  absl::StatusOr<v1::ShiftPropertyResponse> response;
  if (request.has_sinusoidal()) {
    response = OfFormula(request, stop);
  } else {
    const auto model = models.Find(request.model(), request.model_version());
    if (!model.ok()) return model.status();
    response = OfModel(**model, request, stop);
  }
  if (!interruption.ok()) return interruption;
  return response;
}

}  // namespace embd::service

#include "server/service/position_wavelengths.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/diagnostics/position_wavelengths.h"
#include "server/core/error.h"
#include "server/core/position/rotary.h"
#include "server/core/position/sinusoidal_frequencies.h"
#include "server/service/rotary_parameters.h"
#include "server/service/sinusoidal_formula.h"

namespace embd::service {
namespace {

absl::Status InvalidOption(absl::string_view message) { return core::InvalidArgument("INVALID_OPTION", message); }

// Whose bands these are.
struct Encoding {
  std::vector<double> frequencies;
  double base = 0;
};

absl::Status CheckOneSource(const v1::PositionWavelengthsRequest& request) {
  const int given =
      (request.model().empty() ? 0 : 1) + (request.has_sinusoidal() ? 1 : 0) + (request.has_rotary() ? 1 : 0);
  if (given != 1) {
    return InvalidOption(absl::StrCat("give exactly one of model, sinusoidal and rotary, got ",
                                      given == 0 ? "none" : absl::StrCat(given)));
  }
  if (request.model().empty() && !(request.model_version().empty() && request.layer_type().empty())) {
    return InvalidOption("model_version and layer_type need a model");
  }
  constexpr std::int64_t kMaxLength = core::kMaxRotaryPosition + 1;
  if (request.has_scaling_length() && (request.scaling_length() < 1 || request.scaling_length() > kMaxLength)) {
    return InvalidOption(
        absl::StrCat("scaling_length must be from 1 to ", kMaxLength, ", got ", request.scaling_length()));
  }
  return absl::OkStatus();
}

Encoding OfFormula(std::int64_t dim, const core::SinusoidalFormula& formula) {
  Encoding encoding = {.frequencies = {}, .base = formula.base};
  for (const core::SinusoidalBand& band : core::SinusoidalBands(dim, formula)) {
    encoding.frequencies.push_back(band.frequency);
  }
  return encoding;
}

absl::StatusOr<Encoding> OfRotary(const core::RotaryParameters& parameters,
                                  const v1::PositionWavelengthsRequest& request) {
  // Every scaling leaves sequences of one position alone.
  auto frequencies = core::ResolveRotary(parameters, request.has_scaling_length() ? request.scaling_length() : 1);
  if (!frequencies.ok()) return frequencies.status();
  return Encoding{std::move(frequencies->inv_freq), parameters.theta};
}

absl::StatusOr<Encoding> OfModel(const core::ModelRegistry& models, const core::Model& model,
                                 const v1::PositionWavelengthsRequest& request) {
  const bool rotary = model.rotary().has_value() || !model.rotary_layer_types().empty();
  if (rotary || !request.layer_type().empty()) {  // which only rotary encodings have; else the choice refuses it
    const auto choice = ChooseRotary(models, request.model(), request.model_version(), request.layer_type(), nullptr);
    if (!choice.ok()) return choice.status();
    return OfRotary(choice->parameters, request);
  }
  if (model.sinusoidal().has_value()) return OfFormula(model.embedding_dim(), *model.sinusoidal());
  return core::Error(absl::StatusCode::kFailedPrecondition, "NO_WAVELENGTHS",
                     absl::StrCat("the positions of model ", core::Quote(model.name()),
                                  " have no wavelengths; its position encoding is ",
                                  core::PositionEncodingName(model.position_encoding())));
}

absl::StatusOr<Encoding> OfParameters(const core::ModelRegistry& models,
                                      const v1::PositionWavelengthsRequest& request) {
  if (request.has_sinusoidal()) {
    const auto formula = ToFormula(request.sinusoidal());
    if (!formula.ok()) return formula.status();
    return OfFormula(request.sinusoidal().embedding_dim(), *formula);
  }
  const auto choice = ChooseRotary(models, "", "", "", &request.rotary());
  if (!choice.ok()) return choice.status();
  return OfRotary(choice->parameters, request);
}

}  // namespace

absl::StatusOr<v1::PositionWavelengthsResponse> AnswerPositionWavelengths(
    const core::ModelRegistry& models, const v1::PositionWavelengthsRequest& request) {
  if (absl::Status status = CheckOneSource(request); !status.ok()) return status;
  std::shared_ptr<const core::Model> model;
  if (!request.model().empty()) {
    auto found = models.Find(request.model(), request.model_version());
    if (!found.ok()) return found.status();
    model = *std::move(found);
  }
  auto encoding = model != nullptr ? OfModel(models, *model, request) : OfParameters(models, request);
  if (!encoding.ok()) return encoding.status();
  const std::optional<std::int64_t> length = model != nullptr ? model->max_context_length() : std::nullopt;
  const core::Wavelengths bands = core::PositionWavelengths(std::move(encoding->frequencies), length);

  v1::PositionWavelengthsResponse response;
  if (model != nullptr) {
    response.set_model(model->name());
    response.set_model_version(model->version());
  }
  response.set_dim(2 * static_cast<std::int64_t>(bands.frequencies.size()));
  response.set_base(encoding->base);
  response.mutable_frequencies()->Assign(bands.frequencies.begin(), bands.frequencies.end());
  response.mutable_wavelengths()->Assign(bands.wavelengths.begin(), bands.wavelengths.end());
  response.set_shortest(bands.shortest);
  response.set_longest(bands.longest);
  response.set_ratio(bands.ratio);
  if (length.has_value()) response.set_max_context_length(*length);
  response.set_full_turns(bands.full_turns);
  return response;
}

}  // namespace embd::service

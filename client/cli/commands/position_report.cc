#include "client/cli/commands/position_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace embd::cli {

std::string WavelengthText(double value) {
  return std::isinf(value) ? std::string("infinity") : absl::StrFormat("%.8g", value);
}

std::string FullTurnsText(const client::PositionWavelengths& bands) {
  std::string text = absl::StrCat(bands.full_turns, " of ", bands.wavelengths.size());
  if (bands.max_context_length) absl::StrAppend(&text, " within ", *bands.max_context_length, " positions");
  return text;
}

std::string MapText(const client::ShiftProperty& shift) {
  return shift.is_rotation ? "rotation of each band" : "least squares";
}

nlohmann::ordered_json ToJson(const client::PositionWavelengths& bands) {
  nlohmann::ordered_json json = {{"model", bands.model},
                                 {"model_version", bands.model_version},
                                 {"dim", bands.dim},
                                 {"base", bands.base},
                                 {"frequencies", bands.frequencies},
                                 {"wavelengths", bands.wavelengths},
                                 {"shortest", bands.shortest},
                                 {"longest", bands.longest},
                                 {"ratio", bands.ratio},
                                 {"max_context_length", nullptr},
                                 {"full_turns", bands.full_turns}};
  if (bands.max_context_length) json["max_context_length"] = *bands.max_context_length;
  return json;
}

nlohmann::ordered_json ToJson(const client::ShiftProperty& shift) {
  return {{"model", shift.model},
          {"model_version", shift.model_version},
          {"offset", shift.offset},
          {"rows", shift.rows},
          {"is_rotation", shift.is_rotation},
          {"max_residual", shift.max_residual},
          {"rms_residual", shift.rms_residual},
          {"worst_position", shift.worst_position},
          {"worst_column", shift.worst_column}};
}

}  // namespace embd::cli

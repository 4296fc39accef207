#include "client/cli/commands/rotary_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/files/number_text.h"
#include "client/cli/files/parse_json.h"

namespace embd::cli {
namespace {

using Json = nlohmann::ordered_json;
using client::RotaryScaling;

template <typename Value>
struct Field {
  absl::string_view key;
  std::optional<Value> RotaryScaling::*member;
};

constexpr Field<double> kNumbers[] = {{"factor", &RotaryScaling::factor},
                                      {"low_freq_factor", &RotaryScaling::low_freq_factor},
                                      {"high_freq_factor", &RotaryScaling::high_freq_factor},
                                      {"beta_fast", &RotaryScaling::beta_fast},
                                      {"beta_slow", &RotaryScaling::beta_slow},
                                      {"attention_factor", &RotaryScaling::attention_factor},
                                      {"mscale", &RotaryScaling::mscale},
                                      {"mscale_all_dim", &RotaryScaling::mscale_all_dim}};
constexpr Field<std::int64_t> kLengths[] = {
    {"original_max_position_embeddings", &RotaryScaling::original_max_position_embeddings},
    {"max_position_embeddings", &RotaryScaling::max_position_embeddings}};

absl::Status Bad(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("--scaling: ", what)); }

absl::Status BadValue(const std::string& key, absl::string_view expected, const Json& value) {
  return Bad(absl::StrCat(key, " must be ", expected, ", got ", Quoted(value.dump())));
}

absl::Status SetList(const std::string& key, const Json& value, std::vector<double>* out) {
  const auto is_number = [](const Json& item) { return item.is_number(); };
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_number)) {
    return BadValue(key, "a list of numbers", value);
  }
  *out = value.get<std::vector<double>>();
  return absl::OkStatus();
}

absl::Status SetField(const std::string& key, const Json& value, RotaryScaling* scaling) {
  if (key == "type" || key == "rope_type") {
    if (!value.is_string()) return BadValue(key, "a string", value);
    scaling->type = value.get<std::string>();
    return absl::OkStatus();
  }
  if (key == "truncate") {
    if (!value.is_boolean()) return BadValue(key, "true or false", value);
    scaling->truncate = value.get<bool>();
    return absl::OkStatus();
  }
  if (key == "short_factor") return SetList(key, value, &scaling->short_factor);
  if (key == "long_factor") return SetList(key, value, &scaling->long_factor);
  for (const auto& [name, member] : kNumbers) {
    if (key != name) continue;
    if (!value.is_number()) return BadValue(key, "a number", value);
    scaling->*member = value.get<double>();
    return absl::OkStatus();
  }
  for (const auto& [name, member] : kLengths) {
    if (key != name) continue;
    if (!value.is_number_integer()) return BadValue(key, "a whole number", value);
    scaling->*member = value.get<std::int64_t>();
    return absl::OkStatus();
  }
  return Bad(absl::StrCat("unknown key ", Quoted(key),
                          "; there are type, truncate, short_factor, long_factor, original_max_position_embeddings, "
                          "max_position_embeddings, ",
                          absl::StrJoin(kNumbers, ", ", [](std::string* out, const Field<double>& field) {
                            absl::StrAppend(out, field.key);
                          })));
}

// "factor=4" as {"factor": 4}; what is no JSON value is a string.
absl::StatusOr<Json> FromPairs(absl::string_view text) {
  Json object = Json::object();
  for (const absl::string_view pair : absl::StrSplit(text, ',')) {
    const std::vector<std::string> parts = absl::StrSplit(pair, absl::MaxSplits('=', 1));
    if (parts.size() != 2) return Bad(absl::StrCat(Quoted(pair), " is not of the form KEY=VALUE"));
    const std::string value(absl::StripAsciiWhitespace(parts[1]));
    Json parsed = ParseJson(value);
    object[std::string(absl::StripAsciiWhitespace(parts[0]))] = parsed.is_discarded() ? Json(value) : parsed;
  }
  return object;
}

}  // namespace

absl::StatusOr<client::RotaryScaling> ParseRotaryScaling(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  absl::StatusOr<Json> object = Json();
  if (absl::StartsWith(text, "{")) {
    object = ParseJson(text);
    if (object->is_discarded()) return Bad("this is no JSON object");
  } else {
    object = FromPairs(text);
  }
  if (!object.ok()) return object.status();
  RotaryScaling scaling;
  for (const auto& [key, value] : object->items()) {
    if (absl::Status status = SetField(key, value, &scaling); !status.ok()) return status;
  }
  return scaling;
}

void AddRotaryFlags(CLI::App& command, RotaryFlags& flags) {
  command.add_option("MODEL", flags.model, "Name of a model with a rotary encoding; without it the flags say all")
      ->type_name("");
  command.add_option("--head-dim", flags.head_dim, "Width of one vector")->type_name("D");
  command.add_option("--rotary-dim", flags.rotary_dim, "How many leading components are turned; all if not said")
      ->type_name("N");
  command.add_option("--theta", flags.theta, "Base of the wavelengths; 10000 if not said")->type_name("X");
  command.add_option("--pairing", flags.pairing, "Which components turn together: half or interleaved")
      ->type_name("PAIRING")
      ->check(CLI::IsMember({"half", "interleaved"}));
  command
      .add_option("--scaling", flags.scaling,
                  "Scaling of the frequencies: a JSON object, or KEY=VALUE,… such as type=yarn,factor=4")
      ->type_name("SCALING");
  command.add_option("--layer-type", flags.layer_type, "Take the model's parameters for that type of layers")
      ->type_name("NAME");
  command.add_option("--scaling-length", flags.scaling_length, "The length that dynamic and longrope scaling look at")
      ->type_name("N");
}

absl::StatusOr<std::optional<client::RotaryParameters>> ParametersOf(const RotaryFlags& flags) {
  client::RotaryParameters parameters = {
      .head_dim = flags.head_dim.value_or(0), .rotary_dim = flags.rotary_dim, .theta = flags.theta};
  if (flags.pairing) {
    parameters.pairing = client::RotaryPairingFromName(*flags.pairing).value_or(client::RotaryPairing::kUnspecified);
  }
  if (flags.scaling) {
    auto scaling = ParseRotaryScaling(*flags.scaling);
    if (!scaling.ok()) return scaling.status();
    parameters.scaling = *std::move(scaling);
  }
  const bool given = flags.head_dim || flags.rotary_dim || flags.theta || flags.pairing || flags.scaling;
  if (!given && !flags.model.empty()) return std::optional<client::RotaryParameters>();
  return std::optional(std::move(parameters));
}

}  // namespace embd::cli

#ifndef EMBD_CLIENT_POSITIONS_H_
#define EMBD_CLIENT_POSITIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "embd/client/rotary.h"

namespace embd::client {

/// A sinusoidal encoding by its formula.
struct SinusoidalFormula {
  /// D, even.
  std::int64_t embedding_dim = 0;
  /// Unset: 10000.
  std::optional<double> base = {};
  /// Whether frequencies are base^(-i/(D/2 - 1)); else base^(-2i/D).
  bool tensor2tensor = false;
};

/// Asks for the wavelengths of a model or a formula: exactly one of model, sinusoidal and rotary is given.
struct PositionWavelengthsRequest {
  std::string model = {};
  /// Of a model whose layers have rotary parameters of their own; empty: the model's.
  std::string layer_type = {};
  std::optional<SinusoidalFormula> sinusoidal = {};
  std::optional<RotaryParameters> rotary = {};
  /// The length that a scaling by length takes; unset: the longest it leaves alone.
  std::optional<std::int64_t> scaling_length = {};
  /// Empty: the version that is served.
  std::string model_version = {};
};

/// The bands of a position encoding, in the order of their columns.
struct PositionWavelengths {
  /// Empty for a formula.
  std::string model = {};
  std::string model_version = {};
  /// Columns that turn.
  std::int64_t dim = 0;
  double base = 0;
  /// Radians a position, and positions a turn; 0 and infinity for a band that does not turn.
  std::vector<double> frequencies = {};
  std::vector<double> wavelengths = {};
  double shortest = 0;
  double longest = 0;
  /// The second wavelength divided by the first; 0 with a single band.
  double ratio = 0;
  std::optional<std::int64_t> max_context_length = {};
  /// Bands that make a whole turn within max_context_length, or that turn at all.
  std::int64_t full_turns = 0;
};

/// Asks whether PE(p + k) is a linear function of PE(p): exactly one of model and sinusoidal is given.
struct ShiftPropertyRequest {
  std::string model = {};
  std::optional<SinusoidalFormula> sinusoidal = {};
  /// How many positions are looked at; 0: the model's, at most 512, or 128.
  std::int64_t max_context_length = 0;
  /// k; 0: 1.
  std::int64_t offset = 0;
  /// Empty: the version that is served.
  std::string model_version = {};
};

/// How well one linear map takes each row to the row k further on.
struct ShiftProperty {
  /// Empty for a formula.
  std::string model = {};
  std::string model_version = {};
  std::int64_t offset = 0;
  std::int64_t rows = 0;
  /// Whether the map is the formula's rotation; else it is the best one by least squares.
  bool is_rotation = false;
  double max_residual = 0;
  double rms_residual = 0;
  /// Where the largest residual is.
  std::int64_t worst_position = 0;
  std::int64_t worst_column = 0;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_POSITIONS_H_

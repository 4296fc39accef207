#ifndef EMBD_CLIENT_ROTARY_H_
#define EMBD_CLIENT_ROTARY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "embd/client/enums.h"

// Rotary position encoding (RoPE). rotary.proto has the formulas.
namespace embd::client {

/// How frequencies are scaled for long contexts. Types and fields are those of Hugging Face's `rope_scaling`; what is
/// unset is not sent.
struct RotaryScaling {
  /// default, linear, ntk, dynamic, yarn, longrope, llama3 or proportional; empty: default.
  std::string type = {};
  std::optional<double> factor = {};
  std::optional<std::int64_t> original_max_position_embeddings = {};
  std::optional<double> low_freq_factor = {};
  std::optional<double> high_freq_factor = {};
  std::optional<double> beta_fast = {};
  std::optional<double> beta_slow = {};
  std::optional<double> attention_factor = {};
  std::optional<double> mscale = {};
  std::optional<double> mscale_all_dim = {};
  std::optional<bool> truncate = {};
  std::optional<std::int64_t> max_position_embeddings = {};
  std::vector<double> short_factor = {};
  std::vector<double> long_factor = {};
};

/// Parameters of a rotary encoding.
struct RotaryParameters {
  /// Width of one head; 0: not said (Rotate takes the vectors' last axis).
  std::int64_t head_dim = 0;
  /// How many leading components of a head are turned; unset: all.
  std::optional<std::int64_t> rotary_dim = {};
  /// The base of the wavelengths; unset: 10000.
  std::optional<double> theta = {};
  std::optional<RotaryScaling> scaling = {};
  RotaryPairing pairing = RotaryPairing::kUnspecified;
};

/// Rotary parameters of one type of layers.
struct RotaryLayerType {
  std::string layer_type = {};
  RotaryParameters parameters = {};
};

/// Vectors to be turned: a tensor whose axis 0 is the batch and whose last axis is head_dim. The server checks it;
/// nothing is checked here.
struct RotateRequest {
  /// Name of a served model with a rotary encoding; empty: `parameters` say all.
  std::string model = {};
  /// The elements, row-major and little-endian; they must stay until the call returns.
  std::span<const std::byte> vectors = {};
  /// kFloat32, kFloat16, kBfloat16 or kFloat64.
  DataType vectors_type = DataType::kFloat32;
  std::vector<std::int64_t> shape = {};
  /// With a model each field that is set goes before the model's, `scaling` as a whole.
  std::optional<RotaryParameters> parameters = {};
  /// Takes the model's parameters for layers of that type; empty: those for all layers.
  std::string layer_type = {};
  RotaryOutput output_layout = RotaryOutput::kSame;
  /// The axis along which positions count; unset: 1, or 0 for vectors of two axes. Hugging Face's (B, heads, T, d): 2.
  std::optional<std::int64_t> sequence_axis = {};
  /// First position of the rows: none (all 0), one for all rows, or B. Excludes position_ids.
  std::vector<std::int64_t> position_offsets = {};
  /// Explicit positions: T (the same for every row) or B * T.
  std::vector<std::int64_t> position_ids = {};
  /// The length that dynamic and longrope scaling look at; unset: each row's largest position + 1.
  std::optional<std::int64_t> scaling_length = {};
  /// Turn back, so that the inverse of a result is what it was made from.
  bool inverse = false;
  /// kFloat32, kFloat16 or kBfloat16.
  DataType output_type = DataType::kFloat32;
  /// The version that must answer; empty: the one that is served.
  std::string model_version = {};
};

/// What a reply says besides the elements.
struct RotateInfo {
  /// The model that answered; empty where none was named.
  std::string model = {};
  std::string model_version = {};
  /// What cosines and sines were multiplied by.
  double attention_factor = 1.0;
  DataType data_type = DataType::kUnspecified;
  /// The shape of the request's vectors.
  std::vector<std::int64_t> shape = {};
};

/// Turned vectors in memory of their own: row-major, little-endian, without padding.
///
/// Ownership: owns its elements; movable, not copyable. Thread safety: thread-compatible.
class RotatedVectors {
 public:
  /// Without elements.
  RotatedVectors() = default;

  /// Takes over `data`, which holds `byte_size` bytes. Meant for transports.
  RotatedVectors(RotateInfo info, std::unique_ptr<std::byte[]> data, std::size_t byte_size)
      : info_(std::move(info)), data_(std::move(data)), byte_size_(byte_size) {}

  [[nodiscard]] const RotateInfo& info() const { return info_; }

  /// The elements, aligned for any type. Valid as long as this object holds them.
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), byte_size_}; }

  /// The elements as float.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION  they have another type; the message names it.
  [[nodiscard]] absl::StatusOr<std::span<const float>> floats() const;

 private:
  RotateInfo info_;
  std::unique_ptr<std::byte[]> data_;
  std::size_t byte_size_ = 0;
};

/// Asks for cosines and sines.
struct RotaryTableRequest {
  /// As in RotateRequest; head_dim is needed unless a model says it.
  std::string model = {};
  std::optional<RotaryParameters> parameters = {};
  std::string layer_type = {};
  std::int64_t first_position = 0;
  /// How many positions.
  std::int64_t length = 0;
  /// Unset: first_position + length.
  std::optional<std::int64_t> scaling_length = {};
  std::string model_version = {};
};

/// Cosines and sines, one row a position and one column a pair.
///
/// Ownership: owns its elements; movable. Thread safety: thread-compatible.
class RotaryTable {
 public:
  /// Without elements.
  RotaryTable() = default;

  /// Takes over two tables of `rows` times `pairs` floats, as bytes. Meant for transports.
  RotaryTable(double attention_factor, std::int64_t rows, std::int64_t pairs, std::string cos, std::string sin)
      : attention_factor_(attention_factor), rows_(rows), pairs_(pairs), cos_(std::move(cos)), sin_(std::move(sin)) {}

  /// What both tables have been multiplied by.
  [[nodiscard]] double attention_factor() const { return attention_factor_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t pairs() const { return pairs_; }

  /// Row-major. Valid as long as this object is neither moved nor destroyed.
  [[nodiscard]] std::span<const float> cos() const { return Floats(cos_); }
  [[nodiscard]] std::span<const float> sin() const { return Floats(sin_); }

 private:
  static std::span<const float> Floats(const std::string& bytes) {
    return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
  }

  double attention_factor_ = 1.0;
  std::int64_t rows_ = 0;
  std::int64_t pairs_ = 0;
  std::string cos_;
  std::string sin_;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_ROTARY_H_

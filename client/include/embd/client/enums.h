#ifndef EMBD_CLIENT_ENUMS_H_
#define EMBD_CLIENT_ENUMS_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

// The enums of embd.v1, with the numbers they have on the wire. A newer server may send a number that is not listed
// here; it is kept as it is, and its name is "unknown".
namespace embd::client {

/// The type of one element of a tensor. All are little-endian.
enum class DataType : int {
  kUnspecified = 0,
  kFloat32 = 1,
  kFloat16 = 2,
  kBfloat16 = 3,
  kFloat64 = 4,
  kInt8 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kUint32 = 8,
};

/// What of the composition is asked for.
enum class Part : int {
  kUnspecified = 0,  ///< kComposed
  kComposed = 1,     ///< all of it: scaled token row, token type's row, position row, LayerNorm
  kToken = 2,        ///< the scaled token row alone
  kPosition = 3,     ///< the position row alone; needs no ids
};

/// Which of a model's tables is meant.
enum class TableKind : int { kUnspecified = 0, kToken = 1, kPosition = 2, kTokenType = 3, kOutput = 4 };

/// How a model marks order.
enum class PositionEncoding : int { kUnspecified = 0, kNone = 1, kLearned = 2, kSinusoidal = 3, kRotary = 4 };

/// How the rows of a ragged batch are laid out in the reply.
enum class RaggedLayout : int {
  kUnspecified = 0,  ///< kPadded
  kPadded = 1,       ///< (B, T, D), T the longest row or more; the rest is zero
  kPacked = 2,       ///< (sum of row lengths, D), rows one after the other
};

/// Where a padded ragged batch has its padding.
enum class PaddingSide : int {
  kUnspecified = 0,  ///< kRight
  kRight = 1,        ///< after the row
  kLeft = 2,         ///< before the row
};

/// How cells are numbered; the table's row is the position plus the model's row_offset.
enum class PositionNumbering : int {
  kUnspecified = 0,
  kSequential = 1,  ///< from the offset on; a mask's cells by the unmasked ones before them, masked cells get 1
  kFixed = 2,       ///< from the offset on, whatever the mask
  kPadding = 3,     ///< from padding_idx + 1 on, by the cells that are no padding; padding gets padding_idx
  kMask = 4,        ///< by the unmasked cells before them; masked cells get -1
};

/// Where a computed row has its sines and cosines.
enum class SinusoidalLayout : int { kUnspecified = 0, kInterleaved = 1, kHalf = 2, kTensor2Tensor = 3 };

/// What an id outside [0, V) does.
enum class OutOfRangePolicy : int {
  kUnspecified = 0,
  kError = 1,  ///< refuses the request
  kZero = 2,   ///< has a token row of zeros
  kUnk = 3,    ///< has the row of unk_id
};

/// Which two components of a vector a rotary encoding turns together.
enum class RotaryPairing : int { kUnspecified = 0, kHalf = 1, kInterleaved = 2 };

/// Where the turned components of a pair go: back to their places, or all first ones before all second ones.
enum class RotaryOutput : int { kUnspecified = 0, kSame = 1, kSplit = 2 };

/// How the rows of a bag become one vector; bags.proto has the formulas.
enum class BagMode : int { kUnspecified = 0, kSum = 1, kMean = 2, kMax = 3, kSqrtN = 4 };

/// How close two vectors are.
enum class Metric : int {
  kUnspecified = 0,  ///< kCosine
  kCosine = 1,       ///< largest first
  kDot = 2,          ///< largest first
  kL2 = 3,           ///< Euclidean distance, smallest first
};

/// The answer of grpc.health.v1.Health.
enum class HealthStatus : int { kUnknown = 0, kServing = 1, kNotServing = 2, kServiceUnknown = 3 };

/// The names that people and embdctl use: "float32", "composed", "token", "learned", "half", "SERVING"; "unspecified"
/// for zero and "unknown" for a number that is not listed. The views never dangle.
[[nodiscard]] absl::string_view DataTypeName(DataType type);
[[nodiscard]] absl::string_view PartName(Part part);
[[nodiscard]] absl::string_view TableKindName(TableKind kind);
[[nodiscard]] absl::string_view PositionEncodingName(PositionEncoding encoding);
[[nodiscard]] absl::string_view RotaryPairingName(RotaryPairing pairing);
[[nodiscard]] absl::string_view RaggedLayoutName(RaggedLayout layout);
[[nodiscard]] absl::string_view PaddingSideName(PaddingSide side);
[[nodiscard]] absl::string_view PositionNumberingName(PositionNumbering numbering);
[[nodiscard]] absl::string_view SinusoidalLayoutName(SinusoidalLayout layout);
[[nodiscard]] absl::string_view OutOfRangePolicyName(OutOfRangePolicy policy);
[[nodiscard]] absl::string_view BagModeName(BagMode mode);
[[nodiscard]] absl::string_view MetricName(Metric metric);
[[nodiscard]] absl::string_view HealthStatusName(HealthStatus status);

/// The value of that name, or nothing; "unspecified" and "unknown" name no value.
[[nodiscard]] std::optional<DataType> DataTypeFromName(absl::string_view name);
[[nodiscard]] std::optional<Part> PartFromName(absl::string_view name);
[[nodiscard]] std::optional<TableKind> TableKindFromName(absl::string_view name);
[[nodiscard]] std::optional<RaggedLayout> RaggedLayoutFromName(absl::string_view name);
[[nodiscard]] std::optional<PaddingSide> PaddingSideFromName(absl::string_view name);
[[nodiscard]] std::optional<BagMode> BagModeFromName(absl::string_view name);
[[nodiscard]] std::optional<Metric> MetricFromName(absl::string_view name);
[[nodiscard]] std::optional<RotaryPairing> RotaryPairingFromName(absl::string_view name);

/// Bytes of one element; 0 for kUnspecified and unknown numbers.
[[nodiscard]] std::int64_t DataTypeSize(DataType type);

}  // namespace embd::client

#endif  // EMBD_CLIENT_ENUMS_H_

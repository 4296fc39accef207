#include "embd/client/enums.h"

#include <span>

#include "proto/wire/data_type.h"

namespace embd::client {
namespace {

template <typename Enum>
struct Named {
  Enum value;
  absl::string_view name;
};

constexpr Named<Part> kParts[] = {
    {Part::kComposed, "composed"}, {Part::kToken, "token"}, {Part::kPosition, "position"}};

constexpr Named<TableKind> kTableKinds[] = {{TableKind::kToken, "token"},
                                            {TableKind::kPosition, "position"},
                                            {TableKind::kTokenType, "token_type"},
                                            {TableKind::kOutput, "output"}};

constexpr Named<PositionEncoding> kPositionEncodings[] = {{PositionEncoding::kNone, "none"},
                                                          {PositionEncoding::kLearned, "learned"},
                                                          {PositionEncoding::kSinusoidal, "sinusoidal"},
                                                          {PositionEncoding::kRotary, "rotary"}};

constexpr Named<RotaryPairing> kRotaryPairings[] = {{RotaryPairing::kHalf, "half"},
                                                    {RotaryPairing::kInterleaved, "interleaved"}};

constexpr Named<RaggedLayout> kRaggedLayouts[] = {{RaggedLayout::kPadded, "padded"}, {RaggedLayout::kPacked, "packed"}};

constexpr Named<BagMode> kBagModes[] = {
    {BagMode::kSum, "sum"}, {BagMode::kMean, "mean"}, {BagMode::kMax, "max"}, {BagMode::kSqrtN, "sqrtn"}};

constexpr Named<Metric> kMetrics[] = {{Metric::kCosine, "cosine"}, {Metric::kDot, "dot"}, {Metric::kL2, "l2"}};

constexpr Named<PaddingSide> kPaddingSides[] = {{PaddingSide::kRight, "right"}, {PaddingSide::kLeft, "left"}};

constexpr Named<PositionNumbering> kPositionNumberings[] = {{PositionNumbering::kSequential, "sequential"},
                                                            {PositionNumbering::kFixed, "fixed"},
                                                            {PositionNumbering::kPadding, "padding"},
                                                            {PositionNumbering::kMask, "mask"}};

constexpr Named<SinusoidalLayout> kSinusoidalLayouts[] = {{SinusoidalLayout::kInterleaved, "interleaved"},
                                                          {SinusoidalLayout::kHalf, "half"},
                                                          {SinusoidalLayout::kTensor2Tensor, "tensor2tensor"}};

constexpr Named<OutOfRangePolicy> kOutOfRangePolicies[] = {
    {OutOfRangePolicy::kError, "error"}, {OutOfRangePolicy::kZero, "zero"}, {OutOfRangePolicy::kUnk, "unk"}};

constexpr Named<HealthStatus> kHealthStatuses[] = {{HealthStatus::kServing, "SERVING"},
                                                   {HealthStatus::kNotServing, "NOT_SERVING"},
                                                   {HealthStatus::kServiceUnknown, "SERVICE_UNKNOWN"}};

template <typename Enum>
absl::string_view NameOf(Enum value, std::span<const Named<Enum>> names) {
  for (const Named<Enum>& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return value == Enum{} ? "unspecified" : "unknown";
}

template <typename Enum>
std::optional<Enum> ValueOf(absl::string_view name, std::span<const Named<Enum>> names) {
  for (const Named<Enum>& entry : names) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

}  // namespace

absl::string_view DataTypeName(DataType type) { return wire::DataTypeName(static_cast<v1::DataType>(type)); }
absl::string_view PartName(Part part) { return NameOf<Part>(part, kParts); }
absl::string_view TableKindName(TableKind kind) { return NameOf<TableKind>(kind, kTableKinds); }
absl::string_view PositionEncodingName(PositionEncoding encoding) {
  return NameOf<PositionEncoding>(encoding, kPositionEncodings);
}
absl::string_view RotaryPairingName(RotaryPairing pairing) { return NameOf<RotaryPairing>(pairing, kRotaryPairings); }
absl::string_view RaggedLayoutName(RaggedLayout layout) { return NameOf<RaggedLayout>(layout, kRaggedLayouts); }
absl::string_view PaddingSideName(PaddingSide side) { return NameOf<PaddingSide>(side, kPaddingSides); }
absl::string_view BagModeName(BagMode mode) { return NameOf<BagMode>(mode, kBagModes); }
absl::string_view MetricName(Metric metric) { return NameOf<Metric>(metric, kMetrics); }
absl::string_view PositionNumberingName(PositionNumbering numbering) {
  return NameOf<PositionNumbering>(numbering, kPositionNumberings);
}
absl::string_view SinusoidalLayoutName(SinusoidalLayout layout) {
  return NameOf<SinusoidalLayout>(layout, kSinusoidalLayouts);
}
absl::string_view OutOfRangePolicyName(OutOfRangePolicy policy) {
  return NameOf<OutOfRangePolicy>(policy, kOutOfRangePolicies);
}
absl::string_view HealthStatusName(HealthStatus status) {
  return status == HealthStatus::kUnknown ? "UNKNOWN" : NameOf<HealthStatus>(status, kHealthStatuses);
}

std::optional<DataType> DataTypeFromName(absl::string_view name) {
  const auto type = wire::DataTypeFromName(name);
  return type.has_value() ? std::optional(static_cast<DataType>(*type)) : std::nullopt;
}
std::optional<Part> PartFromName(absl::string_view name) { return ValueOf<Part>(name, kParts); }
std::optional<TableKind> TableKindFromName(absl::string_view name) { return ValueOf<TableKind>(name, kTableKinds); }
std::optional<RaggedLayout> RaggedLayoutFromName(absl::string_view name) {
  return ValueOf<RaggedLayout>(name, kRaggedLayouts);
}
std::optional<PaddingSide> PaddingSideFromName(absl::string_view name) {
  return ValueOf<PaddingSide>(name, kPaddingSides);
}
std::optional<BagMode> BagModeFromName(absl::string_view name) { return ValueOf<BagMode>(name, kBagModes); }
std::optional<Metric> MetricFromName(absl::string_view name) { return ValueOf<Metric>(name, kMetrics); }
std::optional<RotaryPairing> RotaryPairingFromName(absl::string_view name) {
  return ValueOf<RotaryPairing>(name, kRotaryPairings);
}

std::int64_t DataTypeSize(DataType type) { return wire::DataTypeSize(static_cast<v1::DataType>(type)); }

}  // namespace embd::client

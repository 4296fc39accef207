#include "embd/client/enums.h"

#include "gmock/gmock.h"

namespace embd::client {
namespace {

TEST(Names, AreThoseThatPeopleUse) {
  EXPECT_EQ(DataTypeName(DataType::kBfloat16), "bfloat16");
  EXPECT_EQ(PartName(Part::kComposed), "composed");
  EXPECT_EQ(TableKindName(TableKind::kTokenType), "token_type");
  EXPECT_EQ(PositionEncodingName(PositionEncoding::kSinusoidal), "sinusoidal");
  EXPECT_EQ(RotaryPairingName(RotaryPairing::kHalf), "half");
  EXPECT_EQ(RaggedLayoutName(RaggedLayout::kPacked), "packed");
  EXPECT_EQ(PaddingSideName(PaddingSide::kLeft), "left");
  EXPECT_EQ(PositionNumberingName(PositionNumbering::kPadding), "padding");
  EXPECT_EQ(SinusoidalLayoutName(SinusoidalLayout::kTensor2Tensor), "tensor2tensor");
  EXPECT_EQ(OutOfRangePolicyName(OutOfRangePolicy::kUnk), "unk");
  EXPECT_EQ(HealthStatusName(HealthStatus::kNotServing), "NOT_SERVING");
}

TEST(Names, TellUnsetFromUnknown) {
  EXPECT_EQ(DataTypeName(DataType::kUnspecified), "unspecified");
  EXPECT_EQ(DataTypeName(static_cast<DataType>(99)), "unknown");
  EXPECT_EQ(PartName(Part::kUnspecified), "unspecified");
  EXPECT_EQ(PartName(static_cast<Part>(99)), "unknown");
  EXPECT_EQ(HealthStatusName(HealthStatus::kUnknown), "UNKNOWN");
}

TEST(Names, LeadBackToTheirValues) {
  EXPECT_EQ(DataTypeFromName("float16"), DataType::kFloat16);
  EXPECT_EQ(PartFromName("position"), Part::kPosition);
  EXPECT_EQ(TableKindFromName("token"), TableKind::kToken);
  EXPECT_EQ(RaggedLayoutFromName("padded"), RaggedLayout::kPadded);
  EXPECT_EQ(PaddingSideFromName("right"), PaddingSide::kRight);
}

TEST(Names, OfNothingHaveNoValue) {
  EXPECT_EQ(DataTypeFromName("float31"), std::nullopt);
  EXPECT_EQ(PartFromName("unspecified"), std::nullopt);
  EXPECT_EQ(TableKindFromName(""), std::nullopt);
}

TEST(DataTypeSize, IsThatOfOneElement) {
  EXPECT_EQ(DataTypeSize(DataType::kFloat16), 2);
  EXPECT_EQ(DataTypeSize(DataType::kUnspecified), 0);
}

}  // namespace
}  // namespace embd::client

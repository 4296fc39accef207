#include "proto/wire/data_type.h"

#include "gmock/gmock.h"

namespace embd::wire {
namespace {

TEST(DataTypeName, IsThereForEveryTypeAndReadsBack) {
  for (int number = v1::DataType_MIN; number <= v1::DataType_MAX; ++number) {
    const auto type = static_cast<v1::DataType>(number);
    SCOPED_TRACE(v1::DataType_Name(type));
    if (type == v1::DATA_TYPE_UNSPECIFIED) continue;

    EXPECT_EQ(DataTypeFromName(DataTypeName(type)), type);
    EXPECT_GT(DataTypeSize(type), 0);
  }
}

TEST(DataTypeName, OfNoTypeSaysSo) {
  EXPECT_EQ(DataTypeName(v1::DATA_TYPE_UNSPECIFIED), "unspecified");
  EXPECT_EQ(DataTypeName(static_cast<v1::DataType>(77)), "unknown");
  EXPECT_EQ(DataTypeSize(static_cast<v1::DataType>(77)), 0);
  EXPECT_EQ(DataTypeFromName("float8"), std::nullopt);
  EXPECT_EQ(DataTypeFromName("unspecified"), std::nullopt);
}

}  // namespace
}  // namespace embd::wire

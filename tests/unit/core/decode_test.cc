#include "server/core/tensor/decode.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

TEST(DecodeToDouble, EveryTypeGivesItsValues) {
  const std::vector<double> values = {0.0, -1.5, 0.0078125, 240.0, -65280.0};
  for (const ElementType type :
       {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16, ElementType::kFloat64}) {
    SCOPED_TRACE(std::string(ElementTypeName(type)));
    const Table table = testing::MakeTable({values}, type);

    std::vector<double> decoded(values.size());
    DecodeToDouble(table.row(0), type, decoded);

    EXPECT_EQ(decoded, values);
  }
}

TEST(DecodeToDouble, KeepsWhatOnlyADoubleHolds) {
  const Table table = testing::MakeTable({{1e300, 0.1}}, ElementType::kFloat64);

  std::vector<double> decoded(2);
  DecodeToDouble(table.row(0), ElementType::kFloat64, decoded);

  EXPECT_THAT(decoded, ::testing::ElementsAre(1e300, 0.1));
}

}  // namespace
}  // namespace embd::core

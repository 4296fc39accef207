#include "server/app/file_table.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/table/checksum.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::app {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class FileTableTest : public ::testing::Test {
 protected:
  // Four rows of width 2 with a NaN in row 3.
  config::TableFile WithNan(std::optional<config::NanPolicy> policy) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    config::TableFile file = Raw({0, 1, 2, 3, 4, 5, 6, nan});
    file.nan = policy;
    return file;
  }

  config::TableFile Raw(const std::vector<float>& values) {
    const config::RawLayout layout = {
        .dtype = config::StoredType::kFloat32, .rows = static_cast<std::int64_t>(values.size() / 2), .columns = 2};
    return {.path = folder_.Write("t.bin", formats::Raw(values)), .raw = layout};
  }

  formats::ScratchFolder folder_;
  TableShare share_ = TableBudget(1000).Open();
};

TEST_F(FileTableTest, NansAreAWarningByDefault) {
  for (const std::optional<config::NanPolicy> policy :
       {std::optional<config::NanPolicy>(), {config::NanPolicy::kWarn}}) {
    const config::TableFile file = WithNan(policy);

    ASSERT_OK_AND_ASSIGN(const FileTable loaded, LoadFileTable(file, &share_));

    EXPECT_THAT(loaded.warnings, ElementsAre(file.path + ": the table holds 1 NaN, the first one in row 3, column 1"));
  }
}

TEST_F(FileTableTest, NansCanBeAllowed) {
  ASSERT_OK_AND_ASSIGN(const FileTable loaded, LoadFileTable(WithNan(config::NanPolicy::kAllow), &share_));

  EXPECT_THAT(loaded.warnings, IsEmpty());
}

TEST_F(FileTableTest, NansCanBeRejectedWithTheirPlace) {
  const config::TableFile file = WithNan(config::NanPolicy::kReject);

  EXPECT_THAT(LoadFileTable(file, &share_),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                             file.path + ": the table holds 1 NaN, the first one in row 3, column 1"),
                    ReasonIs("NAN_IN_TABLE")));
}

TEST_F(FileTableTest, TablesWithoutNansPassEveryPolicy) {
  config::TableFile file = Raw({0, 1, -std::numeric_limits<float>::infinity(), 3});
  file.nan = config::NanPolicy::kReject;

  ASSERT_OK_AND_ASSIGN(const FileTable loaded, LoadFileTable(file, &share_));

  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(loaded.table.checksum, core::TableChecksum(loaded.table.table));
  EXPECT_EQ(loaded.table.source, file.path);
}

TEST_F(FileTableTest, OnlyReadTablesCountInTheBudget) {
  TableShare small = TableBudget(31).Open();
  config::TableFile file = Raw({0, 1, 2, 3, 4, 5, 6, 7});

  EXPECT_THAT(LoadFileTable(file, &small), ReasonIs("OUT_OF_MEMORY"));
  file.mmap = true;
  EXPECT_THAT(LoadFileTable(file, &small), IsOk());
}

TEST_F(FileTableTest, LayoutAndTensorReachTheLoader) {
  config::TableFile file = Raw({0, 1});
  file.raw.reset();

  EXPECT_THAT(LoadFileTable(file, &share_),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, StartsWith(file.path + ": a .bin file does not say")),
                    ReasonIs("LAYOUT_MISSING")));
}

}  // namespace
}  // namespace embd::app

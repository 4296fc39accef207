// The keys of tables that come from files.
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/config/load.h"
#include "tests/support/status_matchers.h"

namespace embd::config {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

absl::StatusOr<ModelConfig> ParseModel(const std::string& token, const std::string& rest = "") {
  auto config = ParseYaml(absl::StrCat("models: [{ name: m, token: { ", token, " }", rest, " }]"), "embd.yaml");
  if (!config.ok()) return config.status();
  return config->models.at(0);
}

TEST(TableFile, LeavesUnsetWhatIsNotGiven) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseModel("file: t.npy"));

  EXPECT_EQ(std::get<TableFile>(model.token), (TableFile{.path = "t.npy"}));
}

TEST(TableFile, TakesLayoutMappingAndNanPolicy) {
  ASSERT_OK_AND_ASSIGN(
      const ModelConfig model,
      ParseModel("file: t.bin, dtype: bfloat16, shape: [320, 64], offset: 128, mmap: true, nan: reject"));

  EXPECT_EQ(std::get<TableFile>(model.token),
            (TableFile{.path = "t.bin",
                       .raw = RawLayout{.dtype = StoredType::kBFloat16, .rows = 320, .columns = 64, .offset = 128},
                       .mmap = true,
                       .nan = NanPolicy::kReject}));
}

TEST(TableFile, KnowsTheNamesOfTypesAndPolicies) {
  for (const auto& [name, type] : std::vector<std::pair<std::string, StoredType>>{{"float32", StoredType::kFloat32},
                                                                                  {"float16", StoredType::kFloat16},
                                                                                  {"bfloat16", StoredType::kBFloat16},
                                                                                  {"float64", StoredType::kFloat64}}) {
    ASSERT_OK_AND_ASSIGN(const ModelConfig model,
                         ParseModel(absl::StrCat("file: t.bin, shape: [1, 1], dtype: ", name)));
    EXPECT_EQ(std::get<TableFile>(model.token).raw->dtype, type);
  }
  for (const auto& [name, policy] : std::vector<std::pair<std::string, NanPolicy>>{
           {"allow", NanPolicy::kAllow}, {"warn", NanPolicy::kWarn}, {"reject", NanPolicy::kReject}}) {
    ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseModel(absl::StrCat("file: t.npy, nan: ", name)));
    EXPECT_EQ(std::get<TableFile>(model.token).nan, policy);
  }
}

TEST(TableFile, PositionTablesHaveTheSameKeys) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model,
                       ParseModel("file: t.npy",
                                  ", position: { learned: { file: p.bin, dtype: float16, shape: [8, 4], "
                                  "offset: 2, mmap: false, nan: allow } }"));

  EXPECT_EQ(std::get<TableFile>(std::get<LearnedPositions>(*model.position).source),
            (TableFile{.path = "p.bin",
                       .raw = RawLayout{.dtype = StoredType::kFloat16, .rows = 8, .columns = 4, .offset = 2},
                       .mmap = false,
                       .nan = NanPolicy::kAllow}));
}

TEST(TableFile, WrongValuesAreRefusedByKey) {
  for (const auto& [token, message] : std::vector<std::pair<std::string, std::string>>{
           {"mmap: yes", "token.mmap: must be true or false, got \"yes\""},
           {"nan: drop", "token.nan: must be allow, warn or reject, got \"drop\""},
           {"dtype: int8, shape: [1, 1]", "token.dtype: must be float32, float16, bfloat16 or float64, got \"int8\""},
           {"dtype: float32", "token.dtype: needs shape"},
           {"shape: [1, 1]", "token.shape: needs dtype"},
           {"offset: 3", "token.offset: needs dtype and shape"},
           {"dtype: float32, shape: [1, 1], offset: -1", "token.offset: must be an integer from 0"},
           {"dtype: float32, shape: 3", "token.shape: must be a list of two integers >= 1"},
           {"dtype: float32, shape: [1]", "token.shape: must be a list of two integers >= 1"},
           {"dtype: float32, shape: [1, 2, 3]", "token.shape: must be a list of two integers >= 1"},
           {"dtype: float32, shape: [0, 2]", "token.shape: must be a list of two integers >= 1"},
           {"dtype: float32, shape: [1, x]", "token.shape: must be a list of two integers >= 1"},
           {"dtype: float32, shape: [1, [2]]", "token.shape: must be a list of two integers >= 1"}}) {
    SCOPED_TRACE(token);
    EXPECT_THAT(ParseModel(absl::StrCat("file: t.bin, ", token)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
}

TEST(TableFile, KeysDoNotGoWithSeededRows) {
  for (const std::string key :
       {"tensor: a", "dtype: float32", "shape: [1, 1]", "offset: 1", "mmap: true", "nan: warn"}) {
    SCOPED_TRACE(key);
    EXPECT_THAT(ParseModel(absl::StrCat("seeded: { vocab_size: 1, embedding_dim: 1 }, ", key)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("does not go with seeded")));
  }
}

}  // namespace
}  // namespace embd::config

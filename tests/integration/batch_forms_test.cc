// The forms that a batch may come in: ragged, padded on either side, masked, typed, as vectors. By every route, a row
// gets what it gets alone, to the bit.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd {
namespace {

using client::DataType;
using client::EmbedRequest;
using client::PaddingSide;
using client::RaggedLayout;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kV = 23, kD = 19, kL = 24;
using Bytes = std::vector<std::byte>;

/// What models keep of LayerNorm: written once, read by every server of the suite.
class NormFiles {
 public:
  [[nodiscard]] config::LayerNorm config() const {
    return {.weight = config::TableFile{.path = weight_}, .bias = config::TableFile{.path = bias_}, .eps = 1e-12};
  }

 private:
  std::string Write(const std::string& name, float first) const {
    std::vector<float> values;
    for (std::int64_t i = 0; i < kD; ++i) values.push_back(first + 0.125f * static_cast<float>(i));
    return folder_.Write(name, formats::NpyFile(formats::NpyDict("'<f4'", "(19,)"), formats::Raw(values)));
  }

  formats::ScratchFolder folder_;
  std::string weight_ = Write("weight.npy", 0.5f);
  std::string bias_ = Write("bias.npy", -1.25f);
};

// A model of each way to number cells and to sum: GPT-2's, BERT's with all there is, RoBERTa's, OPT's, Marian's.
config::ServerConfig Config(const NormFiles& norm) {
  const config::SeededRows rows = {.std = 1.0, .seed = 9};
  const config::TokenTypes types = {.source = config::SeededTokenTypes{.type_vocab_size = 2, .rows = rows}};
  config::ModelConfig gpt2 = testing::SmallModel("gpt2", kV, kD, kL);
  gpt2.token_types = config::TokenTypes{.source = config::SharedTokenTypes{}, .only_when_sent = true};
  gpt2.sum_order = config::SumOrder::kPositionFirst;
  config::ModelConfig bert = testing::SmallModel("bert", kV, kD, kL);
  bert.numbering = config::Numbering::kFixed;
  bert.token_types = types;
  bert.layer_norm = norm.config();
  config::ModelConfig roberta = bert;
  roberta.name = "roberta";
  roberta.numbering = config::Numbering::kPadding;
  roberta.padding_idx = 1;
  config::ModelConfig opt = testing::SmallModel("opt", kV, kD, kL);
  opt.numbering = config::Numbering::kMask;
  opt.row_offset = 2;
  opt.token_scale = config::TokenScale{.sqrt_dim = true};
  config::ModelConfig marian = testing::SmallModel("marian", kV, kD, 0);
  marian.position =
      config::SinusoidalPositions{.max_context_length = 4, .layout = config::SinusoidalLayout::kHalf, .grow_to = kL};
  marian.numbering = config::Numbering::kFixed;
  config::ServerConfig config;
  config.models = {gpt2, bert, roberta, opt, marian};
  return config;
}

constexpr const char* kModels[] = {"gpt2", "bert", "roberta", "opt", "marian"};
constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16};

class BatchForms : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    norm_ = new NormFiles;
    served_ = new testing::ServedModels(Config(*norm_));
    routes_ = new std::map<std::string, testing::Route>;
    for (testing::Route& route : testing::AllRoutes(Config(*norm_), *served_)) routes_->emplace(route.name, route);
  }
  static void TearDownTestSuite() {
    delete routes_;
    delete served_;
    delete norm_;
  }

  static absl::StatusOr<client::Embedding> Embed(const EmbedRequest& request) {
    return routes_->at(GetParam()).embed(request);
  }

  static Bytes BytesOf(const EmbedRequest& request) {
    const auto result = Embed(request);
    EXPECT_THAT(result, IsOk());
    if (!result.ok()) return {};
    return {result->bytes().begin(), result->bytes().end()};
  }

  // The row of that many cells, sent alone.
  static Bytes Alone(const EmbedRequest& batch, std::size_t first, std::size_t count, std::int64_t type_offset = 0) {
    if (count == 0) return {};
    EmbedRequest row = {.model = batch.model, .batch_size = 1, .output_type = batch.output_type};
    const auto begin = batch.ids.begin() + static_cast<std::ptrdiff_t>(first);
    row.ids.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    row.sequence_length = static_cast<std::int64_t>(count);
    if (!batch.token_type_ids.empty()) {
      const auto types = batch.token_type_ids.begin() + static_cast<std::ptrdiff_t>(first);
      row.token_type_ids.assign(types, types + static_cast<std::ptrdiff_t>(count));
    }
    if (type_offset > 0) row.position_offsets = {type_offset};
    return BytesOf(row);
  }

  static NormFiles* norm_;
  static testing::ServedModels* served_;
  static std::map<std::string, testing::Route>* routes_;
};
NormFiles* BatchForms::norm_ = nullptr;
testing::ServedModels* BatchForms::served_ = nullptr;
std::map<std::string, testing::Route>* BatchForms::routes_ = nullptr;

INSTANTIATE_TEST_SUITE_P(ByEveryRoute, BatchForms,
                         ::testing::Values("core", "in_process", "in_process_stream", "tcp", "tcp_async", "tcp_chunks",
                                           "tcp_chunks_into", "tcp_into", "tcp_stream", "unix", "unix_stream"),
                         [](const auto& route) { return route.param; });

std::size_t RowBytes(DataType type) { return kD * (type == DataType::kFloat32 ? 4 : 2); }

// Rows of length 3, 0, 7, 1, 5 with paddings of RoBERTa (id 1) in between.
EmbedRequest Ragged(const std::string& model, DataType type) {
  EmbedRequest request = {.model = model, .output_type = type};
  request.ids = {5, 1, 7, 20, 1, 1, 3, 2, 22, 0, 1, 9, 8, 1, 6, 4};
  request.row_lengths = {3, 0, 7, 1, 5};
  if (model == "bert") request.token_type_ids = {0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1};
  return request;
}

TEST_P(BatchForms, PackedRowsEqualTheRowsSentAlone) {
  for (const char* const model : kModels) {
    for (const DataType type : kTypes) {
      SCOPED_TRACE(absl::StrCat(model, " ", DataTypeName(type)));
      EmbedRequest request = Ragged(model, type);
      request.ragged_layout = RaggedLayout::kPacked;
      Bytes expected;
      std::size_t first = 0;
      for (const std::int64_t length : request.row_lengths) {
        const Bytes row = Alone(request, first, static_cast<std::size_t>(length));
        expected.insert(expected.end(), row.begin(), row.end());
        first += static_cast<std::size_t>(length);
      }

      const auto result = Embed(request);

      ASSERT_THAT(result, IsOk());
      EXPECT_THAT(result->shape(), ElementsAre(16, kD));
      EXPECT_EQ(result->info().row_lengths, request.row_lengths);
      EXPECT_TRUE(std::equal(result->bytes().begin(), result->bytes().end(), expected.begin(), expected.end()));
    }
  }
}

TEST_P(BatchForms, PaddedRowsEqualTheRowsSentAloneAndTheRestIsZero) {
  for (const char* const model : kModels) {
    for (const PaddingSide side : {PaddingSide::kRight, PaddingSide::kLeft}) {
      for (const std::int64_t padded_to : {std::int64_t{0}, std::int64_t{9}}) {
        SCOPED_TRACE(absl::StrCat(model, " ", PaddingSideName(side), " to ", padded_to));
        EmbedRequest request = Ragged(model, DataType::kBfloat16);
        request.padding_side = side;
        request.sequence_length = padded_to;
        const auto tokens = static_cast<std::size_t>(padded_to == 0 ? 7 : padded_to);
        const std::size_t row_bytes = RowBytes(request.output_type);
        Bytes expected;
        std::size_t first = 0;
        for (const std::int64_t length : request.row_lengths) {
          const Bytes row = Alone(request, first, static_cast<std::size_t>(length));
          const Bytes zeros((tokens - static_cast<std::size_t>(length)) * row_bytes);
          const bool left = side == PaddingSide::kLeft;
          expected.insert(expected.end(), (left ? zeros : row).begin(), (left ? zeros : row).end());
          expected.insert(expected.end(), (left ? row : zeros).begin(), (left ? row : zeros).end());
          first += static_cast<std::size_t>(length);
        }

        const auto result = Embed(request);

        ASSERT_THAT(result, IsOk());
        EXPECT_THAT(result->shape(), ElementsAre(5, static_cast<std::int64_t>(tokens), kD));
        EXPECT_TRUE(std::equal(result->bytes().begin(), result->bytes().end(), expected.begin(), expected.end()));
      }
    }
  }
}

TEST_P(BatchForms, MaskedLeftPaddingGivesTheRowsSentAlone) {
  for (const char* const model : {"gpt2", "opt"}) {
    for (const DataType type : kTypes) {
      SCOPED_TRACE(absl::StrCat(model, " ", DataTypeName(type)));
      EmbedRequest request = {.model = model, .ids = {0, 0, 5, 6, 7, 8, 9, 10}, .batch_size = 2, .sequence_length = 4};
      request.attention_mask = {0, 0, 1, 1, 1, 1, 1, 1};
      request.output_type = type;

      const Bytes all = BytesOf(request);

      const std::size_t row_bytes = RowBytes(type);
      ASSERT_EQ(all.size(), 8 * row_bytes);
      const auto at = [&](std::size_t row) { return all.begin() + static_cast<std::ptrdiff_t>(row * row_bytes); };
      EXPECT_EQ(Bytes(at(2), at(4)), Alone(request, 2, 2));
      EXPECT_EQ(Bytes(at(4), at(8)), Alone(request, 4, 4));
    }
  }
}

TEST_P(BatchForms, RobertasRightPaddingChangesNoOtherCell) {
  EmbedRequest request = {.model = "roberta", .ids = {5, 6, 1, 1, 7, 8, 9, 10}, .batch_size = 2, .sequence_length = 4};
  const std::size_t row_bytes = RowBytes(DataType::kFloat32);

  const Bytes all = BytesOf(request);

  const auto at = [&](std::size_t row) { return all.begin() + static_cast<std::ptrdiff_t>(row * row_bytes); };
  EXPECT_EQ(Bytes(at(0), at(2)), Alone(request, 0, 2));
  EXPECT_EQ(Bytes(at(4), at(8)), Alone(request, 4, 4));
}

TEST_P(BatchForms, TokenRowsSentBackAsVectorsGiveTheSameComposition) {
  for (const char* const model : {"gpt2", "bert", "opt", "marian"}) {
    SCOPED_TRACE(model);
    EmbedRequest request = {.model = model, .ids = {5, 6, 2, 3, 7, 8}, .batch_size = 2, .sequence_length = 3};
    const Bytes composed = BytesOf(request);
    EmbedRequest token = request;
    token.part = client::Part::kToken;
    const Bytes rows = BytesOf(token);
    EmbedRequest vectors = {.model = model, .batch_size = 2, .sequence_length = 3};
    vectors.inputs_embeds = client::InputTensor{.data_type = DataType::kFloat32, .shape = {2, 3, kD}, .bytes = rows};

    EXPECT_EQ(BytesOf(vectors), composed);
  }
}

TEST_P(BatchForms, RowsWithoutCellsAreAnEmptyResult) {
  EmbedRequest request = {.model = "gpt2"};
  request.row_lengths = {0, 0};
  const auto padded = Embed(request);
  ASSERT_THAT(padded, IsOk());
  EXPECT_THAT(padded->shape(), ElementsAre(2, 0, kD));
  request.ragged_layout = RaggedLayout::kPacked;
  const auto packed = Embed(request);
  ASSERT_THAT(packed, IsOk());
  EXPECT_THAT(packed->shape(), ElementsAre(0, kD));
}

TEST_P(BatchForms, LengthsThatDoNotFitTheIdsAreRefusedWithBothNumbers) {
  EmbedRequest request = {.model = "gpt2", .ids = {1, 2, 3}};
  request.row_lengths = {1, 3};
  EXPECT_THAT(Embed(request), AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("row_lengths has 2 values summing to 4, but ids has 3 values")),
                                    ReasonIs("INVALID_SHAPE")));
  request.row_lengths = {4, -1};
  EXPECT_THAT(Embed(request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("row_lengths[1] = -1 must be >= 0")));
}

TEST_P(BatchForms, FieldsOfAnotherCountAreRefused) {
  EmbedRequest request = {.model = "bert", .ids = {1, 2, 3}, .batch_size = 1, .sequence_length = 3};
  request.token_type_ids = {0, 1};
  EXPECT_THAT(Embed(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("token_type_ids has 2 values")));
  request.token_type_ids = {};
  request.attention_mask = {1, 1, 1, 1};
  EXPECT_THAT(Embed(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("attention_mask has 4 values")));
}

TEST_P(BatchForms, WarningsComeWithTheReply) {
  EmbedRequest request = {.model = "bert", .ids = {1, 2}, .batch_size = 1, .sequence_length = 2};
  request.attention_mask = {1, 1};
  const auto result = Embed(request);
  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(result->info().warnings, ElementsAre(HasSubstr("attention_mask has no effect")));
}

TEST_P(BatchForms, GrowingTableAnswersBeyondWhatWasComputedAtLoad) {
  EmbedRequest request = {.model = "marian", .part = client::Part::kPosition};
  request.batch_size = 1;
  request.sequence_length = kL;
  const Bytes all = BytesOf(request);
  EmbedRequest last = request;
  last.sequence_length = 1;
  last.position_offsets = {kL - 1};
  const Bytes row = BytesOf(last);
  ASSERT_EQ(all.size(), kL * RowBytes(DataType::kFloat32));
  EXPECT_TRUE(std::equal(row.begin(), row.end(), all.end() - static_cast<std::ptrdiff_t>(row.size())));
  request.sequence_length = kL + 1;
  EXPECT_THAT(Embed(request), ReasonIs("SEQUENCE_TOO_LONG"));
}

}  // namespace
}  // namespace embd

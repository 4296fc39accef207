// What a request must get right about its tensors; the cases of OpenVINO Model Server's predict validation and of
// Triton's input validation.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/integration/oip/oip_server.h"

namespace embd {
namespace {

using ::embd::testing::AddInput;
using ::embd::testing::AddRaw;
using ::embd::testing::IdentityRequest;
using ::embd::testing::IdsRequest;
using ::embd::testing::InferRequest;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::Refused;
using ::embd::testing::RequestFor;
using ::embd::testing::Shape;
using ::embd::testing::SomeIds;
using ::embd::testing::StatusIs;
using ::embd::testing::TypedIdsRequest;
using ::testing::AllOf;
using ::testing::ElementsAre;

using PredictValidation = testing::OipServer;

InferRequest IdsOfShape(const Shape& shape, std::size_t count = 6) {
  InferRequest request = RequestFor("tiny");
  AddRaw(&request, "input_ids", "INT64", shape, std::vector<std::int64_t>(count));
  return request;
}

TEST_F(PredictValidation, ZeroBatchGetsAnEmptyTensorOfItsShape) {
  const auto response = Infer(IdsOfShape({0, 3}, 0));

  ASSERT_THAT(response, IsOk());
  EXPECT_THAT(response->outputs(0).shape(), ElementsAre(0, 3, 4));
  EXPECT_THAT(response->raw_output_contents(), ElementsAre(""));
}

TEST_F(PredictValidation, ScalarShapeIsRefused) {
  ExpectRefused(
      IdsOfShape({}, 1),
      Refused("INVALID_SHAPE", "unexpected shape for input 'input_ids' for model 'tiny'. Expected [-1,-1], got []"));
}

TEST_F(PredictValidation, MissingInputOfAModelWithoutOptionalOnesIsNamed) {
  ExpectRefused(RequestFor("identity_fp32"),
                Refused("INVALID_OPTION",
                        "expected 1 inputs but got 0 inputs for model 'identity_fp32'. Got input(s) [], but missing "
                        "required input(s) ['INPUT0']. Please provide all required input(s)."));
}

TEST_F(PredictValidation, MissingInputOfAModelWithOptionalOnesIsNamed) {
  InferRequest request = RequestFor("tiny");
  AddRaw(&request, "position_ids", "INT64", {2, 3}, SomeIds());
  ExpectRefused(request, Refused("INVALID_OPTION",
                                 "expected number of inputs between 1 and 4 but got 1 inputs for model 'tiny'. Got "
                                 "input(s) ['position_ids'], but missing required input(s) ['input_ids']. Please "
                                 "provide all required input(s)."));
}

TEST_F(PredictValidation, InputTooManyIsRefused) {
  InferRequest request = IdsRequest();
  AddRaw(&request, "input_ids_2", "INT64", {2, 3}, SomeIds());
  ExpectRefused(request, Refused("INVALID_OPTION", "unexpected inference input 'input_ids_2' for model 'tiny'"));
}

TEST_F(PredictValidation, WrongInputNameIsRefused) {
  InferRequest request = IdsRequest();
  request.mutable_inputs(0)->set_name("ids");
  ExpectRefused(request, Refused("INVALID_OPTION", "unexpected inference input 'ids' for model 'tiny'"));
}

TEST_F(PredictValidation, InputGivenTwiceIsRefused) {
  InferRequest request = IdsRequest();
  AddRaw(&request, "input_ids", "INT64", {2, 3}, SomeIds());
  ExpectRefused(request, Refused("INVALID_OPTION", "input 'input_ids' already exists in request"));
}

TEST_F(PredictValidation, UnknownOutputIsRefused) {
  InferRequest request = IdsRequest();
  request.add_outputs()->set_name("logits");
  ExpectRefused(request, Refused("INVALID_OPTION", "unexpected inference output 'logits' for model 'tiny'"));
}

TEST_F(PredictValidation, OutputGivenTwiceIsRefused) {
  InferRequest request = IdsRequest();
  request.add_outputs()->set_name("embeddings");
  request.add_outputs()->set_name("embeddings");
  ExpectRefused(request, Refused("INVALID_OPTION", "output 'embeddings' already exists in request"));
}

TEST_F(PredictValidation, TooFewOrTooManyDimensionsAreRefused) {
  ExpectRefused(
      IdsOfShape({6}),
      Refused("INVALID_SHAPE", "unexpected shape for input 'input_ids' for model 'tiny'. Expected [-1,-1], got [6]"));
  ExpectRefused(IdsOfShape({1, 2, 3}),
                Refused("INVALID_SHAPE",
                        "unexpected shape for input 'input_ids' for model 'tiny'. Expected [-1,-1], got [1,2,3]"));
}

TEST_F(PredictValidation, WrongFixedDimensionIsRefused) {
  InferRequest request = RequestFor("tiny");
  AddRaw(&request, "inputs_embeds", "FP32", {1, 2, 5}, std::vector<float>(10));
  ExpectRefused(request, Refused("INVALID_SHAPE",
                                 "unexpected shape for input 'inputs_embeds' for model 'tiny'. Expected [-1,-1,4], got "
                                 "[1,2,5]"));
}

TEST_F(PredictValidation, InputsOfDifferentBatchesAreRefused) {
  InferRequest request = IdsRequest();
  AddRaw(&request, "attention_mask", "INT64", {3, 2}, std::vector<std::int64_t>(6));
  ExpectRefused(request, Refused("INVALID_SHAPE", "input 'attention_mask' has shape [3,2], but 'input_ids' has [2,3]"));
}

TEST_F(PredictValidation, BatchBeyondTheLimitIsRefused) {
  EXPECT_THAT(Infer(IdsOfShape({16, 1}, 16)), IsOk());
  ExpectRefused(IdsOfShape({17, 1}, 17), AllOf(StatusIs(absl::StatusCode::kResourceExhausted,
                                                        "inference request batch-size must be <= 16 for "
                                                        "'tiny'"),
                                               ReasonIs("REQUEST_TOO_LARGE")));
}

TEST_F(PredictValidation, WrongPrecisionIsRefused) {
  for (const std::string datatype : {"FP32", "UINT32", "UINT64", "INT16", "BYTES", "int64", ""}) {
    InferRequest request = IdsRequest();
    request.mutable_inputs(0)->set_datatype(datatype);
    ExpectRefused(request, Refused("INVALID_OPTION", "inference input 'input_ids' data-type is '" + datatype +
                                                         "', but model 'tiny' expects 'INT64'"));
  }
}

TEST_F(PredictValidation, NegativeExtentsAreRefused) {
  for (const Shape& shape : {Shape{-1, 6}, Shape{2, -3}, Shape{-2, -3}, Shape{std::int64_t{-1} << 63, 1}}) {
    ExpectRefused(IdsOfShape(shape),
                  Refused("INVALID_SHAPE", ::testing::StartsWith("All input dimensions should be specified for input "
                                                                 "'input_ids' for model 'tiny', got [")));
  }
}

TEST_F(PredictValidation, RawBesideTypedContentsIsRefused) {
  InferRequest both = TypedIdsRequest();
  both.add_raw_input_contents(testing::RawBytes(SomeIds()));
  ExpectRefused(both, Refused("INVALID_OPTION",
                              "contents field must not be specified when using raw_input_contents for 'input_ids' for "
                              "model 'tiny'"));
  InferRequest mixed = TypedIdsRequest();
  AddRaw(&mixed, "position_ids", "INT64", {2, 3}, std::vector<std::int64_t>(6));
  ExpectRefused(mixed, Refused("INVALID_OPTION",
                               "contents field must not be specified when using raw_input_contents for 'input_ids' for "
                               "model 'tiny'"));
}

TEST_F(PredictValidation, EmptyContentsBesideRawOnesAreRefused) {
  InferRequest request = IdsRequest();
  request.mutable_inputs(0)->mutable_contents();
  ExpectRefused(request, Refused("INVALID_OPTION",
                                 "contents field must not be specified when using raw_input_contents for 'input_ids' "
                                 "for model 'tiny'"));
}

TEST_F(PredictValidation, InputWithoutDataIsRefused) {
  InferRequest request = RequestFor("tiny");
  AddInput(&request, "input_ids", "INT64", {2, 3});
  ExpectRefused(request, Refused("INVALID_OPTION",
                                 "unable to find data for input tensor 'input_ids' for model 'tiny' in request."));
}

TEST_F(PredictValidation, FewerRawContentsThanInputsAreRefused) {
  InferRequest request = IdsRequest();
  AddInput(&request, "attention_mask", "INT64", {2, 3});
  ExpectRefused(request, Refused("INVALID_OPTION",
                                 "unable to find data for input tensor 'attention_mask' for model 'tiny' in request."));
}

TEST_F(PredictValidation, MoreRawContentsThanInputsAreRefused) {
  InferRequest request = IdsRequest();
  request.add_raw_input_contents("");
  ExpectRefused(request, Refused("INVALID_OPTION",
                                 "raw_input_contents has 2 entries, but only 1 inputs take one for model 'tiny'"));
}

TEST_F(PredictValidation, RawContentsBelongToInputsInTheOrderOfTheRequest) {
  const std::vector<std::int64_t> positions = {3, 4, 5, 0, 1, 2};
  InferRequest ids_first = IdsRequest();
  AddRaw(&ids_first, "position_ids", "INT64", {2, 3}, positions);
  InferRequest positions_first = RequestFor("tiny");
  AddRaw(&positions_first, "position_ids", "INT64", {2, 3}, positions);
  AddRaw(&positions_first, "input_ids", "INT64", {2, 3}, SomeIds());

  const auto expected = Infer(ids_first), actual = Infer(positions_first);

  ASSERT_THAT(expected, IsOk());
  ASSERT_THAT(actual, IsOk());
  EXPECT_EQ(actual->raw_output_contents(0), expected->raw_output_contents(0));
  EXPECT_NE(actual->raw_output_contents(0), Infer(IdsRequest())->raw_output_contents(0)) << "positions have an effect";
}

TEST_F(PredictValidation, ByteSizeThatContradictsTheShapeIsRefused) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{40}, std::size_t{47}, std::size_t{49}, std::size_t{56}}) {
    InferRequest request = IdsRequest();
    request.set_raw_input_contents(0, std::string(bytes, '\0'));
    ExpectRefused(
        request,
        Refused("INVALID_SHAPE", "input byte size mismatch for input 'input_ids' for model 'tiny'. Expected 48, got " +
                                     std::to_string(bytes)));
  }
}

TEST_F(PredictValidation, IdsOfTwiceTheWidthAreRefusedWithBothSizes) {
  InferRequest request = RequestFor("tiny");
  AddRaw(&request, "input_ids", "INT32", {2, 3}, SomeIds());  // eight bytes each
  ExpectRefused(
      request,
      Refused("INVALID_SHAPE", "input byte size mismatch for input 'input_ids' for model 'tiny'. Expected 24, got 48"));
}

TEST_F(PredictValidation, ByteSizeOfFloatsThatContradictsTheShapeIsRefused) {
  ExpectRefused(IdentityRequest({8, 1}, std::vector<float>(10)),
                Refused("INVALID_SHAPE",
                        "input byte size mismatch for input 'INPUT0' for model 'identity_fp32'. Expected 32, got 40"));
}

TEST_F(PredictValidation, SizesBeyond64BitsAreRefusedAndDoNotWrapRound) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  // 2^64 bytes would be 0, and 2^64 + 48 would be 48.
  for (const Shape& shape : {Shape{std::int64_t{1} << 32, std::int64_t{1} << 29}, Shape{kMost, kMost}, Shape{kMost, 1},
                             Shape{1, (std::int64_t{1} << 61) + 6}, Shape{1, std::int64_t{1} << 60}}) {
    for (const std::size_t count : {0u, 6u}) {
      ExpectRefused(IdsOfShape(shape, count),
                    Refused("INVALID_SHAPE",
                            "input byte size mismatch for input 'input_ids' for model 'tiny'. Expected "
                            "more than 2^63 - 1, got " +
                                std::to_string(8 * count)));
    }
  }
}

TEST_F(PredictValidation, SizesBeyond32BitsAreRefusedAndDoNotWrapRound) {
  // 2^32 bytes would be 0, and 2^32 + 48 would be 48.
  ExpectRefused(IdsOfShape({1 << 16, 1 << 13}, 0),
                Refused("INVALID_SHAPE",
                        "input byte size mismatch for input 'input_ids' for model 'tiny'. Expected 4294967296, got 0"));
  ExpectRefused(
      IdsOfShape({1, (1 << 29) + 6}),
      Refused("INVALID_SHAPE",
              "input byte size mismatch for input 'input_ids' for model 'tiny'. Expected 4294967344, got 48"));
}

TEST_F(PredictValidation, IdsAndVectorsExcludeEachOther) {
  InferRequest request = IdsRequest();
  AddRaw(&request, "inputs_embeds", "FP32", {2, 3, 4}, std::vector<float>(24));
  ExpectRefused(request, Refused("INVALID_OPTION", "input_ids and inputs_embeds exclude each other"));
}

TEST_F(PredictValidation, InputThatTheModelCannotUseIsRefusedByTheModel) {
  InferRequest request = IdsRequest();
  AddRaw(&request, "token_type_ids", "INT64", {2, 3}, std::vector<std::int64_t>(6));
  ExpectRefused(request, StatusIs(absl::StatusCode::kFailedPrecondition,
                                  "model \"tiny\" adds no token types; send no token_type_ids"));
}

TEST_F(PredictValidation, IdOutsideTheTableIsNamedWithItsCell) {
  for (const std::int64_t id : {std::int64_t{10}, std::int64_t{-1}, std::int64_t{1} << 32}) {
    InferRequest request = RequestFor("tiny");
    AddRaw(&request, "input_ids", "INT64", {2, 2}, std::vector<std::int64_t>{0, 1, id, 2});
    ExpectRefused(request, AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                          ::testing::HasSubstr("input_ids[1][0] = " + std::to_string(id))),
                                 ReasonIs("ID_OUT_OF_RANGE")));
  }
}

}  // namespace
}  // namespace embd

// How elements travel, there and back; the cases of KServe's and MLServer's servicers.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/oip/oip_server.h"
#include "tests/integration/oip/wire_bytes.h"

namespace embd {
namespace {

using ::embd::testing::AddInput;
using ::embd::testing::AddRaw;
using ::embd::testing::BytesField;
using ::embd::testing::IdsRequest;
using ::embd::testing::InferRequest;
using ::embd::testing::InferResponse;
using ::embd::testing::InputMessage;
using ::embd::testing::IsOk;
using ::embd::testing::RawValues;
using ::embd::testing::Refused;
using ::embd::testing::RequestFor;
using ::embd::testing::SomeIds;
using ::embd::testing::TypedIdsRequest;
using ::embd::testing::VarintField;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

class Contents : public testing::OipServer {
 protected:
  // What our own API answers to the same batch.
  std::string Expected(client::DataType type = client::DataType::kFloat32) {
    const auto embedding = served().TcpClient().Embed(
        {.model = "tiny", .ids = SomeIds(), .batch_size = 2, .sequence_length = 3, .output_type = type});
    EXPECT_THAT(embedding, IsOk());
    return {reinterpret_cast<const char*>(embedding->bytes().data()), embedding->bytes().size()};
  }
};

InferRequest TypedOutput(InferRequest request) {
  (*request.mutable_parameters())["typed_output"].set_bool_param(true);
  return request;
}

TEST_F(Contents, RawAndTypedIdsOfBothWidthsAreAnsweredRawWithTheSameBytes) {
  const std::vector<std::int32_t> narrow(SomeIds().begin(), SomeIds().end());
  InferRequest raw32 = RequestFor("tiny"), typed32 = RequestFor("tiny");
  AddRaw(&raw32, "input_ids", "INT32", {2, 3}, narrow);
  InputMessage* const input = AddInput(&typed32, "input_ids", "INT32", {2, 3});
  for (const std::int32_t id : narrow) input->mutable_contents()->add_int_contents(id);

  for (const InferRequest& request : {IdsRequest(), TypedIdsRequest(), raw32, typed32}) {
    const auto response = Infer(request);

    ASSERT_THAT(response, IsOk());
    ASSERT_EQ(response->outputs_size(), 1);
    EXPECT_EQ(response->outputs(0).name(), "embeddings");
    EXPECT_EQ(response->outputs(0).datatype(), "FP32");
    EXPECT_THAT(response->outputs(0).shape(), ElementsAre(2, 3, 4));
    EXPECT_FALSE(response->outputs(0).has_contents());
    EXPECT_THAT(response->raw_output_contents(), ElementsAre(Expected()));
  }
}

TEST_F(Contents, TypedOutputFillsContentsAndNoRawOnes) {
  const auto response = Infer(TypedOutput(IdsRequest()));

  ASSERT_THAT(response, IsOk());
  ASSERT_EQ(response->outputs_size(), 1);
  EXPECT_THAT(response->outputs(0).contents().fp32_contents(), ElementsAreArray(RawValues<float>(Expected())));
  EXPECT_THAT(response->outputs(0).shape(), ElementsAre(2, 3, 4));
  EXPECT_EQ(response->raw_output_contents_size(), 0);
}

TEST_F(Contents, EveryOutputHasItsRawContentsInTheOrderOfTheRequest) {
  InferRequest request = IdsRequest();
  for (const char* const name : {"position_embeddings", "embeddings", "token_embeddings"}) {
    request.add_outputs()->set_name(name);
  }

  const auto response = Infer(request);

  ASSERT_THAT(response, IsOk());
  ASSERT_EQ(response->outputs_size(), 3);
  ASSERT_EQ(response->raw_output_contents_size(), 3);
  EXPECT_EQ(response->outputs(0).name(), "position_embeddings");
  EXPECT_EQ(response->outputs(1).name(), "embeddings");
  EXPECT_EQ(response->outputs(2).name(), "token_embeddings");
  const auto positions = RawValues<float>(response->raw_output_contents(0));
  const auto sums = RawValues<float>(response->raw_output_contents(1));
  const auto tokens = RawValues<float>(response->raw_output_contents(2));
  ASSERT_EQ(sums.size(), 24u);
  ASSERT_EQ(positions.size(), sums.size());
  ASSERT_EQ(tokens.size(), sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], tokens[i] + positions[i]);
}

TEST_F(Contents, SeveralTypedOutputsHaveTheirOwnContents) {
  InferRequest request = TypedOutput(IdsRequest());
  request.add_outputs()->set_name("token_embeddings");
  request.add_outputs()->set_name("embeddings");

  const auto typed = Infer(request);
  request.clear_parameters();
  const auto raw = Infer(request);

  ASSERT_THAT(typed, IsOk());
  ASSERT_THAT(raw, IsOk());
  ASSERT_EQ(typed->outputs_size(), 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(typed->outputs(i).name(), raw->outputs(i).name());
    EXPECT_THAT(typed->outputs(i).contents().fp32_contents(),
                ElementsAreArray(RawValues<float>(raw->raw_output_contents(i))));
  }
}

TEST_F(Contents, HalfPrecisionOutputsAreRaw) {
  for (const auto& [name, type] :
       {std::pair("FP16", client::DataType::kFloat16), {"BF16", client::DataType::kBfloat16}}) {
    InferRequest request = TypedIdsRequest();
    (*request.mutable_parameters())["output_datatype"].set_string_param(name);

    const auto response = Infer(request);

    ASSERT_THAT(response, IsOk());
    EXPECT_EQ(response->outputs(0).datatype(), name);
    EXPECT_FALSE(response->outputs(0).has_contents());
    EXPECT_THAT(response->raw_output_contents(), ElementsAre(Expected(type)));
    ExpectRefused(TypedOutput(request),
                  Refused("INVALID_OPTION", "typed_output: '" + std::string(name) +
                                                "' elements of output 'embeddings' have no typed form here; ask for "
                                                "FP32, or for raw contents"));
  }
}

TEST_F(Contents, HalfPrecisionInputsHaveNoTypedForm) {
  for (const std::string datatype : {"FP16", "BF16"}) {
    InferRequest request = RequestFor("tiny");
    InputMessage* const input = AddInput(&request, "inputs_embeds", datatype, {1, 1, 4});
    for (int i = 0; i < 4; ++i) input->mutable_contents()->add_fp32_contents(1);
    ExpectRefused(request, Refused("INVALID_OPTION",
                                   "unexpected explicit tensor data for input tensor 'inputs_embeds' for model 'tiny' "
                                   "of type 'FP32', expected datatype '" +
                                       datatype + "'"));
  }
}

TEST_F(Contents, VectorsOfEveryDatatypeGiveTheirOwnBits) {
  const std::vector<float> wanted = {1.0f, -2.0f, 0.5f, 0.0f};
  InferRequest raw = RequestFor("tiny"), typed = RequestFor("tiny"), doubles = RequestFor("tiny"),
               half = RequestFor("tiny"), brain = RequestFor("tiny");
  AddRaw(&raw, "inputs_embeds", "FP32", {1, 1, 4}, wanted);
  InputMessage* input = AddInput(&typed, "inputs_embeds", "FP32", {1, 1, 4});
  for (const float each : wanted) input->mutable_contents()->add_fp32_contents(each);
  input = AddInput(&doubles, "inputs_embeds", "FP64", {1, 1, 4});
  for (const float each : wanted) input->mutable_contents()->add_fp64_contents(each);
  AddRaw(&half, "inputs_embeds", "FP16", {1, 1, 4}, std::vector<std::uint16_t>{0x3C00, 0xC000, 0x3800, 0});
  AddRaw(&brain, "inputs_embeds", "BF16", {1, 1, 4}, std::vector<std::uint16_t>{0x3F80, 0xC000, 0x3F00, 0});

  for (InferRequest request : {raw, typed, doubles, half, brain}) {
    request.add_outputs()->set_name("token_embeddings");

    const auto response = Infer(request);

    ASSERT_THAT(response, IsOk());
    EXPECT_EQ(RawValues<float>(response->raw_output_contents(0)), wanted) << request.inputs(0).datatype();
  }
}

TEST_F(Contents, EveryWrongTypedFieldIsNamed) {
  using Fill = std::function<void(::inference::InferTensorContents*)>;
  const std::pair<const char*, Fill> fields[] = {
      {"BOOL", [](auto* contents) { contents->add_bool_contents(true); }},
      {"INT32", [](auto* contents) { contents->add_int_contents(1); }},
      {"UINT32", [](auto* contents) { contents->add_uint_contents(1); }},
      {"UINT64", [](auto* contents) { contents->add_uint64_contents(1); }},
      {"FP32", [](auto* contents) { contents->add_fp32_contents(1); }},
      {"FP64", [](auto* contents) { contents->add_fp64_contents(1); }},
      {"BYTES", [](auto* contents) { contents->add_bytes_contents("1"); }},
  };
  for (const auto& [datatype, fill] : fields) {
    InferRequest request = RequestFor("tiny");
    fill(AddInput(&request, "input_ids", "INT64", {1, 1})->mutable_contents());
    ExpectRefused(request, Refused("INVALID_OPTION",
                                   "unexpected explicit tensor data for input tensor 'input_ids' for model 'tiny' of "
                                   "type '" +
                                       std::string(datatype) + "', expected datatype 'INT64'"));
  }
}

TEST_F(Contents, SeveralTypedFieldsAreRefused) {
  InferRequest request = TypedIdsRequest();
  request.mutable_inputs(0)->mutable_contents()->add_uint_contents(1);
  ExpectRefused(request,
                Refused("INVALID_OPTION",
                        "unexpected explicit tensor data for input tensor 'input_ids' for model 'tiny', binary "
                        "data was already supplied."));
}

TEST_F(Contents, TypedElementsThatContradictTheShapeAreRefused) {
  InferRequest more = TypedIdsRequest(), none = TypedIdsRequest();
  more.mutable_inputs(0)->mutable_contents()->add_int64_contents(1);
  none.mutable_inputs(0)->mutable_contents()->clear_int64_contents();
  ExpectRefused(more, Refused("INVALID_SHAPE",
                              "input byte size mismatch for input 'input_ids' for model 'tiny'. Expected 48, got 56"));
  ExpectRefused(none, Refused("INVALID_SHAPE",
                              "input byte size mismatch for input 'input_ids' for model 'tiny'. Expected 48, got 0"));
}

TEST_F(Contents, EveryValidEncodingOfARequestGetsTheSameBytes) {
  const std::string model = BytesField(1, "tiny"), raw = BytesField(7, testing::RawBytes(SomeIds()));
  const std::string name = BytesField(1, "input_ids"), datatype = BytesField(2, "INT64"), shape = BytesField(3, "\2\3");
  const std::string described = name + datatype + shape;
  std::string unpacked;
  for (const std::int64_t id : SomeIds()) unpacked += VarintField(3, static_cast<std::uint64_t>(id));
  const std::string first = BytesField(5, BytesField(3, "\1\2")), second = BytesField(5, BytesField(3, {3, 9, 0, 1}));
  const std::pair<const char*, std::string> encodings[] = {
      {"raw", model + BytesField(5, described) + raw},
      {"raw contents before the input, which is before the model", raw + BytesField(5, described) + model},
      {"a shape that is not packed",
       model + BytesField(5, name + datatype + VarintField(3, 2) + VarintField(3, 3)) + raw},
      {"a shape in two pieces",
       model + BytesField(5, BytesField(3, "\2") + name + BytesField(3, "\3") + datatype) + raw},
      {"typed, packed", model + BytesField(5, described + BytesField(5, BytesField(3, {1, 2, 3, 9, 0, 1})))},
      {"typed, not packed", model + BytesField(5, described + BytesField(5, unpacked))},
      {"typed, in two messages that are merged", model + BytesField(5, first + described + second)},
      {"a repeated singular field, of which the last counts",
       BytesField(1, "foo") + model + BytesField(5, described) + raw},
      {"unknown fields",
       VarintField(4000, 5) + model + BytesField(5, described + BytesField(77, "news")) + raw + BytesField(99, "x")},
      {"overlong varints",
       model + BytesField(5, name + datatype + std::string("\x18\x82\x00\x18\x83\x80\x00", 7)) + raw},
  };
  for (const auto& [what, bytes] : encodings) {
    SCOPED_TRACE(what);
    const auto reply = testing::CallRaw(channel(), testing::kModelInfer, bytes);

    ASSERT_THAT(reply, IsOk());
    InferResponse response;
    ASSERT_TRUE(response.ParseFromString(*reply));
    EXPECT_THAT(response.raw_output_contents(), ElementsAre(Expected()));
  }
}

}  // namespace
}  // namespace embd

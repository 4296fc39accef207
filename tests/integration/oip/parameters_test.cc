// The parameters of requests, outputs and inputs.

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "tests/integration/oip/oip_server.h"

namespace embd {
namespace {

using ::embd::testing::IdentityRequest;
using ::embd::testing::IdsRequest;
using ::embd::testing::InferRequest;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::Refused;
using ::embd::testing::StatusIs;
using ::inference::InferParameter;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Fill = std::function<void(InferParameter*)>;

using Parameters = testing::OipServer;

// IdsRequest with one parameter.
InferRequest With(const std::string& name, const Fill& fill) {
  InferRequest request = IdsRequest();
  fill(&(*request.mutable_parameters())[name]);
  return request;
}

Fill Bool(bool value) {
  return [=](InferParameter* parameter) { parameter->set_bool_param(value); };
}
Fill Int(std::int64_t value) {
  return [=](InferParameter* parameter) { parameter->set_int64_param(value); };
}
Fill Uint(std::uint64_t value) {
  return [=](InferParameter* parameter) { parameter->set_uint64_param(value); };
}
Fill Text(const std::string& value) {
  return [=](InferParameter* parameter) { parameter->set_string_param(value); };
}
Fill Double(double value) {
  return [=](InferParameter* parameter) { parameter->set_double_param(value); };
}
const Fill kUnset = [](InferParameter* /*parameter*/) {};

TEST_F(Parameters, UnknownOnesOfEveryTypeAreIgnored) {
  for (const Fill& fill : {Bool(true), Int(-1), Uint(1), Text("x"), Double(0.5), kUnset}) {
    EXPECT_THAT(Infer(With("colour", fill)), IsOk());
  }
  InferRequest request = IdsRequest();
  (*request.mutable_inputs(0)->mutable_parameters())["colour"].set_bool_param(true);
  InferRequest::InferRequestedOutputTensor* const output = request.add_outputs();
  output->set_name("embeddings");
  (*output->mutable_parameters())["binary_data"].set_bool_param(false);
  EXPECT_THAT(Infer(request), IsOk());
}

TEST_F(Parameters, TimeoutOfZeroMeansNone) { EXPECT_THAT(Infer(With("timeout", Int(0))), IsOk()); }

TEST_F(Parameters, TimeoutThatHasPassedEndsTheCall) {
  ExpectRefused(With("timeout", Int(1)),
                AllOf(StatusIs(absl::StatusCode::kDeadlineExceeded, "the timeout of the request has passed"),
                      ReasonIs("DEADLINE_EXCEEDED")));
}

TEST_F(Parameters, TimeoutsBeyondEveryClockNeverPass) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t timeout : {kMost, kMost / 1000, kMost / 1000 + 1, std::int64_t{60'000'000}}) {
    EXPECT_THAT(Infer(With("timeout", Int(timeout))), IsOk()) << timeout;
  }
}

TEST_F(Parameters, TimeoutsThatMakeNoSenseAreRefused) {
  ExpectRefused(With("timeout", Int(-1)),
                Refused("INVALID_OPTION", "invalid value for 'timeout', expected microseconds >= 0, got -1"));
  for (const Fill& fill : {Bool(true), Uint(1), Text("1"), Double(1), kUnset}) {
    ExpectRefused(With("timeout", fill),
                  Refused("INVALID_OPTION", "invalid value type for 'timeout' parameter, expected int64_param"));
  }
}

TEST_F(Parameters, PriorityIsAnIntegerOfEitherKindAndHasNoEffect) {
  for (const Fill& fill : {Int(0), Int(7), Uint(0), Uint(std::numeric_limits<std::uint64_t>::max())}) {
    EXPECT_THAT(Infer(With("priority", fill)), IsOk());
  }
  ExpectRefused(With("priority", Int(-1)),
                Refused("INVALID_OPTION", StartsWith("invalid value for 'priority', expected value >= 0")));
  for (const Fill& fill : {Bool(true), Text("1"), Double(1), kUnset}) {
    ExpectRefused(
        With("priority", fill),
        Refused("INVALID_OPTION", "invalid value type for 'priority' parameter, expected int64_param or uint64_param"));
  }
}

TEST_F(Parameters, SequencesAreRefused) {
  for (const auto& [name, fill] : {std::pair<std::string, Fill>("sequence_id", Int(1)),
                                   {"sequence_id", Text("s")},
                                   {"sequence_start", Bool(true)},
                                   {"sequence_end", Bool(false)}}) {
    ExpectRefused(With(name, fill), Refused("INVALID_OPTION", "'" + name +
                                                                  "' is not supported: no model keeps the state of a "
                                                                  "sequence"));
  }
}

TEST_F(Parameters, ReservedNamesAreRefused) {
  for (const std::string name : {"triton_", "triton_foo", "triton_enable_empty_final_response"}) {
    ExpectRefused(With(name, Bool(true)),
                  Refused("INVALID_OPTION",
                          AllOf(StartsWith("parameter keys starting with 'triton_' are reserved"), HasSubstr(name))));
  }
}

TEST_F(Parameters, OfSeveralBadOnesTheFirstByNameIsToldEveryTime) {
  InferRequest request = With("priority", Int(-1));
  for (const char* const name : {"triton_foo", "sequence_id", "sequence_start", "timeout", "typed_output"}) {
    Int(-1)(&(*request.mutable_parameters())[name]);
  }

  for (int i = 0; i < 30; ++i) {
    EXPECT_THAT(Infer(request), Refused("INVALID_OPTION", "invalid value for 'priority', expected value >= 0, got -1"));
  }
}

TEST_F(Parameters, OutputDatatypeOfAnOutputGoesBeforeThatOfTheRequest) {
  InferRequest request = With("output_datatype", Text("FP16"));
  InferRequest::InferRequestedOutputTensor* const own = request.add_outputs();
  own->set_name("embeddings");
  (*own->mutable_parameters())["output_datatype"].set_string_param("BF16");
  request.add_outputs()->set_name("token_embeddings");

  const auto response = Infer(request);

  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->outputs(0).datatype(), "BF16");
  EXPECT_EQ(response->outputs(1).datatype(), "FP16");
  EXPECT_EQ(response->raw_output_contents(0).size(), 48u);
  EXPECT_EQ(response->raw_output_contents(1).size(), 48u);
}

TEST_F(Parameters, OutputDatatypesThatMakeNoSenseAreRefused) {
  for (const std::string value : {"FP64", "INT64", "fp16", ""}) {
    ExpectRefused(With("output_datatype", Text(value)),
                  Refused("INVALID_OPTION",
                          "invalid value for 'output_datatype', expected 'FP32', 'FP16' or 'BF16', "
                          "got '" +
                              value + "'"));
  }
  ExpectRefused(With("output_datatype", Int(10)),
                Refused("INVALID_OPTION", "invalid value type for 'output_datatype' parameter, expected string_param"));
  InferRequest output = IdsRequest();
  output.add_outputs()->set_name("embeddings");
  (*output.mutable_outputs(0)->mutable_parameters())["output_datatype"].set_string_param("INT8");
  ExpectRefused(output, Refused("INVALID_OPTION", HasSubstr("got 'INT8'")));
}

TEST_F(Parameters, OutputDatatypeThatTheModelDoesNotMakeIsRefused) {
  InferRequest request = IdentityRequest({1, 1}, {1.0f});
  (*request.mutable_parameters())["output_datatype"].set_string_param("FP16");
  ExpectRefused(request, Refused("INVALID_OPTION", "inference output 'OUTPUT0' has no datatype 'FP16'"));
}

TEST_F(Parameters, TypedOutputIsABool) {
  EXPECT_THAT(Infer(With("typed_output", Bool(false))), IsOk());
  ExpectRefused(With("typed_output", Int(1)),
                Refused("INVALID_OPTION", "invalid value type for 'typed_output' parameter, expected bool_param"));
}

TEST_F(Parameters, ClassificationIsRefused) {
  InferRequest request = IdsRequest();
  request.add_outputs()->set_name("embeddings");
  (*request.mutable_outputs(0)->mutable_parameters())["classification"].set_int64_param(3);
  ExpectRefused(request, Refused("INVALID_OPTION", "'classification' is not supported for output 'embeddings'"));
}

TEST_F(Parameters, RegionsAreRefusedWhileTheyAreOff) {
  InferRequest input = IdsRequest();
  input.clear_raw_input_contents();
  auto& parameters = *input.mutable_inputs(0)->mutable_parameters();
  parameters["shared_memory_region"].set_string_param("r");
  parameters["shared_memory_byte_size"].set_int64_param(48);
  ExpectRefused(input, StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("shared_memory")));
  InferRequest output = IdsRequest();
  output.add_outputs()->set_name("embeddings");
  *output.mutable_outputs(0)->mutable_parameters() = parameters;
  ExpectRefused(output, StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("shared_memory")));
}

TEST_F(Parameters, HalfARegionIsRefused) {
  InferRequest request = IdsRequest();
  auto& parameters = *request.mutable_inputs(0)->mutable_parameters();
  parameters["shared_memory_byte_size"].set_int64_param(48);
  ExpectRefused(request, Refused("INVALID_OPTION",
                                 "'shared_memory_byte_size' can not be specified without 'shared_memory_region' "
                                 "parameter for tensor 'input_ids'"));
  parameters.clear();
  parameters["shared_memory_region"].set_string_param("r");
  ExpectRefused(request, Refused("INVALID_OPTION",
                                 "'shared_memory_byte_size' must be specified along with 'shared_memory_region' "
                                 "parameter for tensor 'input_ids'"));
}

}  // namespace
}  // namespace embd

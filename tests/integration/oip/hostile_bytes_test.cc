// Requests that nobody means well with: each gets a status, in time that grows with its size only, and the server
// lives.

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/oip/oip_server.h"
#include "tests/integration/oip/wire_bytes.h"

namespace embd {
namespace {

using ::embd::testing::AddRaw;
using ::embd::testing::BytesField;
using ::embd::testing::CallRaw;
using ::embd::testing::IdsRequest;
using ::embd::testing::InferRequest;
using ::embd::testing::IsOk;
using ::embd::testing::kModelInfer;
using ::embd::testing::ReasonIs;
using ::embd::testing::Refused;
using ::embd::testing::SomeIds;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kMany = 100'000;
constexpr int kSome = 60;

class HostileBytes : public testing::OipServer {
 protected:
  // With something of everything.
  static std::string RichRequest() {
    InferRequest request = IdsRequest();
    request.set_id("id");
    request.set_model_version("1");
    AddRaw(&request, "position_ids", "INT32", {1, 3}, std::vector<std::int32_t>{2, 1, 0});
    AddRaw(&request, "attention_mask", "INT64", {2, 3}, std::vector<std::int64_t>(6, 1));
    (*request.mutable_parameters())["timeout"].set_int64_param(60'000'000);
    (*request.mutable_parameters())["priority"].set_uint64_param(1);
    (*request.mutable_parameters())["output_datatype"].set_string_param("FP16");
    request.add_outputs()->set_name("embeddings");
    request.add_outputs()->set_name("token_embeddings");
    (*request.mutable_outputs(1)->mutable_parameters())["output_datatype"].set_string_param("FP32");
    return request.SerializeAsString();
  }

  static std::string TypedRequest() {
    InferRequest request = testing::TypedIdsRequest();
    (*request.mutable_parameters())["typed_output"].set_bool_param(true);
    return request.SerializeAsString();
  }

  // Sends the bytes; the answer must be a reply or a refusal that blames the request.
  void ExpectAnswered(const std::string& bytes) {
    const auto answer = CallRaw(channel(), kModelInfer, bytes);
    static const std::set<absl::StatusCode> kAllowed = {
        absl::StatusCode::kOk,
        absl::StatusCode::kInvalidArgument,
        absl::StatusCode::kNotFound,
        absl::StatusCode::kFailedPrecondition,  // a region, which are off here
        absl::StatusCode::kResourceExhausted,   // a limit
        absl::StatusCode::kDeadlineExceeded};   // a timeout
    EXPECT_TRUE(kAllowed.count(answer.status().code()) == 1) << answer.status();
    EXPECT_LE(answer.status().message().size(), 1024u);
  }

  void ExpectLives() {
    EXPECT_THAT(CallRaw(channel(), kModelInfer, RichRequest()), IsOk());
    EXPECT_THAT(CallRaw(channel(), kModelInfer, TypedRequest()), IsOk());
  }
};

TEST_F(HostileBytes, TruncatedRequestsAreAnswered) {
  for (const std::string& whole : {RichRequest(), TypedRequest()}) {
    for (std::size_t size = 0; size < whole.size(); ++size) ExpectAnswered(whole.substr(0, size));
  }
  ExpectLives();
}

TEST_F(HostileBytes, MutatedRequestsAreAnswered) {
  std::mt19937_64 random(20'000);
  const std::string wholes[] = {RichRequest(), TypedRequest()};
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = wholes[i % 2];
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1u << random() % 8)); break;
        case 2: bytes.insert(at, 1, static_cast<char>(random())); break;
        default: bytes.erase(at, 1 + random() % 3);
      }
    }
    ExpectAnswered(bytes);
  }
  ExpectLives();
}

TEST_F(HostileBytes, BytesThatAreNoMessageAreRefused) {
  for (const std::string& bytes : {std::string("\xff\xff\xff\xff"), std::string("\x0a\x7f"), std::string(100, '\x0b'),
                                   std::string("\x0a\xff\xff\xff\xff\x7f")}) {
    EXPECT_THAT(
        CallRaw(channel(), kModelInfer, bytes),
        AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("are no valid inference.ModelInferRequest")),
              ReasonIs("MALFORMED_REQUEST")));
  }
  ExpectLives();
}

TEST_F(HostileBytes, NamesThatAreNotUtf8AreRefused) {
  const std::string bad = "\xff\xfe";
  const std::pair<const char*, std::string> requests[] = {
      {"model", BytesField(1, bad)},
      {"version", BytesField(1, "tiny") + BytesField(2, bad)},
      {"id", BytesField(1, "tiny") + BytesField(3, bad)},
      {"parameter", BytesField(1, "tiny") + BytesField(4, BytesField(1, bad))},
      {"input", BytesField(1, "tiny") + BytesField(5, BytesField(1, bad))},
      {"datatype", BytesField(1, "tiny") + BytesField(5, BytesField(2, bad))},
      {"output", BytesField(1, "tiny") + BytesField(6, BytesField(1, bad))},
  };
  for (const auto& [what, bytes] : requests) {
    EXPECT_THAT(
        CallRaw(channel(), kModelInfer, bytes),
        AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not UTF-8")), ReasonIs("MALFORMED_REQUEST")))
        << what;
  }
  ExpectLives();
}

TEST_F(HostileBytes, LongNamesAreRefusedInShortMessages) {
  const std::string name(kMany, 'n');
  const auto check = [this](const InferRequest& request, const absl::StatusCode code) {
    const auto answer = Infer(request);
    EXPECT_EQ(answer.status().code(), code) << answer.status();
    EXPECT_LE(answer.status().message().size(), 400u);
  };
  InferRequest request = IdsRequest();
  request.set_model_name(name);
  check(request, absl::StatusCode::kNotFound);
  request = IdsRequest();
  request.set_model_version(name);
  check(request, absl::StatusCode::kInvalidArgument);
  request = IdsRequest();
  request.set_id(name);
  check(request, absl::StatusCode::kInvalidArgument);
  request = IdsRequest();
  request.mutable_inputs(0)->set_name(name);
  check(request, absl::StatusCode::kInvalidArgument);
  request = IdsRequest();
  request.mutable_inputs(0)->set_datatype(name);
  check(request, absl::StatusCode::kInvalidArgument);
  request = IdsRequest();
  request.add_outputs()->set_name(name);
  check(request, absl::StatusCode::kInvalidArgument);
  request = IdsRequest();
  (*request.mutable_parameters())["triton_" + name].set_bool_param(true);
  check(request, absl::StatusCode::kInvalidArgument);
  request = IdsRequest();
  (*request.mutable_parameters())["output_datatype"].set_string_param(name);
  check(request, absl::StatusCode::kInvalidArgument);
  request = IdsRequest();
  (*request.mutable_parameters())[name].set_string_param(name);
  check(request, absl::StatusCode::kOk);
  ExpectLives();
}

TEST_F(HostileBytes, EmptyRawContentsTooManyAreRefused) {
  InferRequest request = IdsRequest();
  for (int i = 0; i < kSome; ++i) request.add_raw_input_contents();
  ExpectRefused(request, Refused("INVALID_OPTION",
                                 "raw_input_contents has 61 entries, but only 1 inputs take one for model 'tiny'"));
}

TEST_F(HostileBytes, MorePartsThanAnyModelHasAreRefusedBeforeTheyAreDecoded) {
  InferRequest inputs = IdsRequest(), outputs = IdsRequest(), contents = IdsRequest(), parameters = IdsRequest();
  for (int i = 0; i < kMany; ++i) {
    inputs.add_inputs();
    outputs.add_outputs();
    contents.add_raw_input_contents();
    (*parameters.mutable_parameters())["p" + std::to_string(i)].set_int64_param(i);
  }
  ExpectRefused(inputs, Refused("INVALID_OPTION", "the request has more than 64 inputs"));
  ExpectRefused(outputs, Refused("INVALID_OPTION", "the request has more than 64 outputs"));
  ExpectRefused(contents, Refused("INVALID_OPTION", "the request has more than 64 raw_input_contents"));
  ExpectRefused(parameters, Refused("INVALID_OPTION", "the request has more than 256 parameters"));
}

TEST_F(HostileBytes, RepeatedAndUnknownInputsAreRefused) {
  InferRequest same = IdsRequest(), others = IdsRequest();
  for (int i = 0; i < kSome; ++i) {
    same.add_inputs()->set_name("attention_mask");
    others.add_inputs()->set_name("mask" + std::to_string(i));
  }
  ExpectRefused(same, Refused("INVALID_OPTION", "input 'attention_mask' already exists in request"));
  ExpectRefused(others, Refused("INVALID_OPTION", "unexpected inference input 'mask0' for model 'tiny'"));
}

TEST_F(HostileBytes, RepeatedOutputsAreRefused) {
  InferRequest request = IdsRequest();
  for (int i = 0; i < kSome; ++i) request.add_outputs()->set_name("embeddings");
  ExpectRefused(request, Refused("INVALID_OPTION", "output 'embeddings' already exists in request"));
}

TEST_F(HostileBytes, UnknownParametersAreIgnored) {
  InferRequest request = IdsRequest();
  for (int i = 0; i < kSome; ++i) (*request.mutable_parameters())["p" + std::to_string(i)].set_int64_param(i);
  EXPECT_THAT(Infer(request), IsOk());
}

TEST_F(HostileBytes, ShapeOfManyDimensionsIsRefusedInAShortMessage) {
  InferRequest request = IdsRequest();
  for (int i = 0; i < kMany; ++i) request.mutable_inputs(0)->add_shape(1);

  const auto answer = Infer(request);

  EXPECT_THAT(answer, Refused("INVALID_SHAPE", HasSubstr("unexpected shape for input 'input_ids'")));
  EXPECT_LE(answer.status().message().size(), 1024u);
  ExpectLives();
}

}  // namespace
}  // namespace embd

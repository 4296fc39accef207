// Requests made by hand, byte by byte: every valid encoding is read, every other one refused, and the server lives.
// Each is sent by unary call and as an item of a stream.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "embd/v1/embedding.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "proto/wire/status.h"
#include "tests/support/byte_buffer.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::embd::testing::ToBuffer;
using ::embd::testing::ToBytes;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>((value & 0x7F) | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}
std::string VarintField(int number, std::uint64_t value) {
  return Varint(static_cast<std::uint64_t>(number) << 3) + Varint(value);
}
std::string BytesField(int number, const std::string& value) {
  return Varint(static_cast<std::uint64_t>(number) << 3 | 2) + Varint(value.size()) + value;
}

class RawBytes : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    config::ServerConfig config;
    config.models = {testing::SmallModel("tiny", 10, 4, 8)};
    config.limits.max_request_bytes = 1 << 20;
    served_ = new testing::ServedModels(config);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    channel_ = new std::shared_ptr<grpc::Channel>(
        grpc::CreateCustomChannel(served_->tcp_address(), grpc::InsecureChannelCredentials(), arguments));
  }
  static void TearDownTestSuite() {
    delete channel_;
    delete served_;
  }

  // The serialized EmbedResponse, or the refusal.
  static absl::StatusOr<std::string> Unary(const std::string& request) {
    grpc::GenericStub stub(*channel_);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareUnaryCall(&context, "/embd.v1.EmbeddingService/Embed", ToBuffer(request), &queue);
    grpc::ByteBuffer reply;
    grpc::Status status;
    call->StartCall();
    call->Finish(&reply, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    queue.Shutdown();
    while (queue.Next(&tag, &ok)) {
    }
    if (!status.ok()) return wire::FromGrpcStatus(status);
    return ToBytes(reply);
  }

  // The same as the only item of a stream, wrapped by hand so that the wrapper stays valid.
  static absl::StatusOr<std::string> Streamed(const std::string& request) {
    const auto items = Stream({BytesField(1, "id") + BytesField(100, request)});
    if (!items.ok()) return items.status();
    if (items->size() != 1) return absl::InternalError("not one item");
    const v1::EmbedStreamResponse& item = items->front();
    if (item.has_error()) return wire::FromRequestStatus(item.error());
    return item.response().SerializeAsString();
  }

  static absl::StatusOr<std::vector<v1::EmbedStreamResponse>> Stream(const std::vector<std::string>& items) {
    grpc::GenericStub stub(*channel_);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto next = [&queue] {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    const auto call = stub.PrepareCall(&context, "/embd.v1.EmbeddingService/EmbedStream", &queue);
    call->StartCall(nullptr);
    next();
    for (const std::string& item : items) {
      call->Write(ToBuffer(item), nullptr);
      next();
    }
    call->WritesDone(nullptr);
    next();
    std::vector<v1::EmbedStreamResponse> answers;
    while (true) {
      grpc::ByteBuffer reply;
      call->Read(&reply, nullptr);
      if (!next()) break;
      EXPECT_TRUE(answers.emplace_back().ParseFromString(ToBytes(reply)));
    }
    grpc::Status status;
    call->Finish(&status, nullptr);
    next();
    queue.Shutdown();
    while (next()) {
    }
    if (!status.ok()) return wire::FromGrpcStatus(status);
    return answers;
  }

  static void ExpectRefused(const std::string& request,
                            const ::testing::Matcher<absl::StatusOr<std::string>>& matcher) {
    EXPECT_THAT(Unary(request), matcher);
    EXPECT_THAT(Streamed(request), matcher);
    EXPECT_THAT(Unary(Canonical()), IsOk()) << "the server lives";
  }

  // (2, 3) ids as protobuf writes them.
  static v1::EmbedRequest Request() {
    v1::EmbedRequest request;
    request.set_model("tiny");
    for (const int id : {1, 2, 3, 9, 0, 1}) request.add_ids(id);
    request.set_batch_size(2);
    request.set_sequence_length(3);
    return request;
  }
  static std::string Canonical() { return Request().SerializeAsString(); }

  static testing::ServedModels* served_;
  static std::shared_ptr<grpc::Channel>* channel_;
};
testing::ServedModels* RawBytes::served_ = nullptr;
std::shared_ptr<grpc::Channel>* RawBytes::channel_ = nullptr;

TEST_F(RawBytes, EveryValidEncodingOfARequestGetsTheSameBytes) {
  const std::string model = BytesField(1, "tiny");
  const std::string shape = VarintField(3, 2) + VarintField(4, 3);
  std::string unpacked;
  for (const std::uint64_t id : {1u, 2u, 3u, 9u, 0u, 1u}) unpacked += VarintField(2, id);
  const std::string first = BytesField(2, {1, 2});
  const std::string second = BytesField(2, {3, 9, 0, 1});
  const std::pair<const char*, std::string> encodings[] = {
      {"unpacked ids", model + unpacked + shape},
      {"ids in two packed pieces", model + first + shape + second},
      {"fields reversed", VarintField(4, 3) + VarintField(3, 2) + first + second + model},
      {"an unknown field", model + BytesField(77, "news") + first + second + shape + VarintField(4000, 5)},
      {"a repeated singular field, of which the last counts", BytesField(1, "other") + model + first + second + shape},
      {"overlong varints", model + first + second + std::string("\x18\x82\x00", 3) + VarintField(4, 3)},
  };
  const auto expected = Unary(Canonical());
  ASSERT_THAT(expected, IsOk());
  for (const auto& [name, bytes] : encodings) {
    SCOPED_TRACE(name);
    const auto unary = Unary(bytes);
    const auto streamed = Streamed(bytes);
    ASSERT_THAT(unary, IsOk());
    ASSERT_THAT(streamed, IsOk());
    EXPECT_EQ(*unary, *expected);
    EXPECT_EQ(*streamed, *expected);
  }
}

TEST_F(RawBytes, RawIdsOfEveryTypeGetTheSameBytesAsPackedOnes) {
  const auto expected = Unary(Canonical());
  ASSERT_THAT(expected, IsOk());
  const std::int32_t ids32[] = {1, 2, 3, 9, 0, 1};
  const std::int64_t ids64[] = {1, 2, 3, 9, 0, 1};
  const std::tuple<v1::DataType, const void*, std::size_t> forms[] = {{v1::DATA_TYPE_INT32, ids32, sizeof ids32},
                                                                      {v1::DATA_TYPE_UINT32, ids32, sizeof ids32},
                                                                      {v1::DATA_TYPE_INT64, ids64, sizeof ids64}};
  for (const auto& [type, data, size] : forms) {
    v1::EmbedRequest request;
    request.set_model("tiny");
    request.mutable_ids_tensor()->set_data_type(type);
    request.mutable_ids_tensor()->add_shape(2);
    request.mutable_ids_tensor()->add_shape(3);
    request.mutable_ids_tensor()->set_data(data, size);

    const auto answer = Unary(request.SerializeAsString());

    ASSERT_THAT(answer, IsOk());
    EXPECT_EQ(*answer, *expected);
  }
}

TEST_F(RawBytes, RawIdsThatMakeNoSenseAreRefused) {
  const auto with = [](v1::DataType type, std::vector<std::int64_t> shape, std::size_t bytes) {
    v1::EmbedRequest request;
    request.set_model("tiny");
    request.mutable_ids_tensor()->set_data_type(type);
    for (const std::int64_t extent : shape) request.mutable_ids_tensor()->add_shape(extent);
    request.mutable_ids_tensor()->set_data(std::string(bytes, '\0'));
    return request;
  };
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  ExpectRefused(with(v1::DATA_TYPE_FLOAT32, {2, 3}, 24).SerializeAsString(),
                AllOf(StatusIs(kInvalid, HasSubstr("ids_tensor.data_type float32 is no type of ids")),
                      ReasonIs("INVALID_OPTION")));
  ExpectRefused(with(v1::DATA_TYPE_INT32, {6}, 24).SerializeAsString(),
                AllOf(StatusIs(kInvalid, HasSubstr("must be (batch_size, sequence_length), got (6)")),
                      ReasonIs("INVALID_SHAPE")));
  ExpectRefused(with(v1::DATA_TYPE_INT64, {2, 3}, 24).SerializeAsString(),
                StatusIs(kInvalid, HasSubstr("ids_tensor.data has 24 bytes, but (2, 3) int64 needs 48")));
  ExpectRefused(with(v1::DATA_TYPE_INT64, {kHuge, kHuge}, 24).SerializeAsString(),
                StatusIs(kInvalid, HasSubstr("needs more than 2^63 - 1")));
  ExpectRefused(with(v1::DATA_TYPE_INT32, {-2, -3}, 24).SerializeAsString(),
                StatusIs(kInvalid, HasSubstr("got (-2, -3)")));
  v1::EmbedRequest both = with(v1::DATA_TYPE_INT32, {2, 3}, 24);
  both.add_ids(1);
  ExpectRefused(both.SerializeAsString(), StatusIs(kInvalid, "ids and ids_tensor exclude each other"));
  v1::EmbedRequest contradiction = with(v1::DATA_TYPE_INT32, {2, 3}, 24);
  contradiction.set_batch_size(3);
  ExpectRefused(contradiction.SerializeAsString(), StatusIs(kInvalid, HasSubstr("batch_size 3 contradicts the shape")));
}

TEST_F(RawBytes, UndecodableBytesAreRefused) {
  const auto matcher =
      AllOf(StatusIs(kInvalid, HasSubstr("are no valid embd.v1.EmbedRequest")), ReasonIs("MALFORMED_REQUEST"));
  for (const std::string& bytes : {std::string("\xff\xff\xff\xff"), Canonical().substr(0, 9), std::string("\x0a\x7f"),
                                   std::string(100, '\x0b'), BytesField(1, "\xff\xfe")}) {
    EXPECT_THAT(Unary(bytes), matcher);
  }
  EXPECT_THAT(Unary(Canonical()), IsOk());
}

TEST_F(RawBytes, UndecodableItemGetsItsOwnStatusAndTheStreamGoesOn) {
  const std::string good = BytesField(1, "a") + BytesField(100, Canonical());
  const auto answers = Stream({good, "\xff\xff", BytesField(100, BytesField(1, "\xff\xfe")), good});

  ASSERT_THAT(answers, IsOk());
  ASSERT_EQ(answers->size(), 4u);
  EXPECT_TRUE(answers->at(0).has_response());
  for (const int bad : {1, 2}) {
    EXPECT_THAT(
        wire::FromRequestStatus(answers->at(static_cast<std::size_t>(bad)).error()),
        AllOf(StatusIs(kInvalid, HasSubstr("are no valid embd.v1.EmbedStreamRequest")), ReasonIs("MALFORMED_REQUEST")));
    EXPECT_EQ(answers->at(static_cast<std::size_t>(bad)).index(), bad);
  }
  EXPECT_TRUE(answers->at(3).has_response());
}

TEST_F(RawBytes, NothingOfAnUndecodableItemIsEchoed) {
  const auto answers = Stream({std::string("\x0a\x02\xff\xfe"), std::string("\x0a\x01\x61\xff")});

  ASSERT_THAT(answers, IsOk());
  ASSERT_EQ(answers->size(), 2u);
  for (const v1::EmbedStreamResponse& answer : *answers) {
    EXPECT_EQ(answer.error().reason(), "MALFORMED_REQUEST");
    EXPECT_EQ(answer.request_id(), "");
  }
}

TEST_F(RawBytes, RequestIdOfAKibibyteIsEchoedAndALongerOneRefused) {
  const std::string longest(1024, 'i');
  const auto answers = Stream({BytesField(1, longest) + BytesField(100, Canonical()),
                               BytesField(1, longest + "i") + BytesField(100, Canonical())});

  ASSERT_THAT(answers, IsOk());
  ASSERT_EQ(answers->size(), 2u);
  EXPECT_EQ(answers->at(0).request_id(), longest);
  EXPECT_TRUE(answers->at(0).has_response());
  EXPECT_EQ(answers->at(1).request_id(), "");
  EXPECT_THAT(
      wire::FromRequestStatus(answers->at(1).error()),
      AllOf(StatusIs(kInvalid, "request_id has 1025 bytes; at most 1024 are allowed"), ReasonIs("INVALID_OPTION")));
}

TEST_F(RawBytes, EmptyRequestNamesTheModelsThereAre) {
  ExpectRefused("", AllOf(StatusIs(absl::StatusCode::kNotFound, "there is no model \"\"; there is \"tiny\""),
                          ReasonIs("MODEL_NOT_FOUND")));
}

TEST_F(RawBytes, UnknownEnumNumbersAreRefusedNeverTheDefault) {
  ExpectRefused(Canonical() + VarintField(5, 77),
                AllOf(StatusIs(kInvalid, "part = 77 is no value of its enum; allowed are COMPOSED, TOKEN, POSITION"),
                      ReasonIs("UNKNOWN_ENUM_VALUE")));
  ExpectRefused(
      Canonical() + VarintField(6, 77),
      AllOf(StatusIs(kInvalid, "output_type = 77 is no value of its enum; allowed are FLOAT32, FLOAT16, BFLOAT16"),
            ReasonIs("UNKNOWN_ENUM_VALUE")));
  ExpectRefused(Canonical() + VarintField(14, 77),
                AllOf(StatusIs(kInvalid, "ragged_layout = 77 is no value of its enum; allowed are PADDED, PACKED"),
                      ReasonIs("UNKNOWN_ENUM_VALUE")));
  ExpectRefused(Canonical() + VarintField(15, 77),
                AllOf(StatusIs(kInvalid, "padding_side = 77 is no value of its enum; allowed are RIGHT, LEFT"),
                      ReasonIs("UNKNOWN_ENUM_VALUE")));
  ExpectRefused(Canonical() + VarintField(6, v1::DATA_TYPE_INT8),
                AllOf(StatusIs(kInvalid, HasSubstr("output_type int8 is no output type")), ReasonIs("INVALID_OPTION")));
}

TEST_F(RawBytes, RequestOverTheLimitIsRefusedWithOurOwnWords) {
  v1::EmbedRequest request = Request();
  request.set_model_version(std::string(1'500'000, 'v'));

  ExpectRefused(request.SerializeAsString(),
                AllOf(StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("exceeds max_request_bytes 1048576 of this server; split the batch")),
                      ReasonIs("REQUEST_TOO_LARGE")));
}

TEST_F(RawBytes, CallThatIsClosedWithoutAMessageIsRefused) {
  grpc::GenericStub stub(*channel_);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto next = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  const auto call = stub.PrepareCall(&context, "/embd.v1.EmbeddingService/Embed", &queue);
  call->StartCall(nullptr);
  next();
  call->WritesDone(nullptr);
  next();
  grpc::Status status;
  call->Finish(&status, nullptr);
  next();
  queue.Shutdown();
  while (next()) {
  }

  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.error_message(), "");
  EXPECT_THAT(Unary(Canonical()), IsOk()) << "the server lives";
}

TEST_F(RawBytes, RequestFarOverTheLimitIsRefusedByGrpc) {
  v1::EmbedRequest request = Request();
  request.set_model_version(std::string(8'000'000, 'v'));

  EXPECT_THAT(Unary(request.SerializeAsString()),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("Received message larger than max")));
  EXPECT_THAT(Unary(Canonical()), IsOk());
}

}  // namespace
}  // namespace embd

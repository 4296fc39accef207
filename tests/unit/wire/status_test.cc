#include "proto/wire/status.h"

#include <string>

#include "absl/strings/cord.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::wire {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::EndsWith;

absl::Status Refusal(absl::StatusCode code, const std::string& message, const std::string& reason) {
  absl::Status status(code, message);
  status.SetPayload(kReasonPayload, absl::Cord(reason));
  return status;
}

TEST(Status, EveryCodeComesBackWithItsMessageAndReason) {
  for (int code = 1; code <= 16; ++code) {
    SCOPED_TRACE(code);
    const absl::Status sent = Refusal(static_cast<absl::StatusCode>(code), "what, where", "A_REASON");

    EXPECT_EQ(FromGrpcStatus(ToGrpcStatus(sent)), sent);
    EXPECT_EQ(FromRequestStatus(ToRequestStatus(sent)), sent);
  }
}

TEST(Status, OkStaysOk) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_THAT(FromGrpcStatus(grpc::Status::OK), IsOk());
}

TEST(Status, RetryDelayTravelsInMilliseconds) {
  absl::Status sent = Refusal(absl::StatusCode::kResourceExhausted, "busy", "OVERLOADED");
  SetRetryAfterMs(&sent, 12'345);

  EXPECT_EQ(RetryAfterMs(FromGrpcStatus(ToGrpcStatus(sent))), 12'345);
  EXPECT_EQ(RetryAfterMs(FromRequestStatus(ToRequestStatus(sent))), 12'345);
}

TEST(Status, OnlyExhaustionWithoutARetryDelayNeverFits) {
  absl::Status overloaded = Refusal(absl::StatusCode::kResourceExhausted, "busy", "OVERLOADED");
  SetRetryAfterMs(&overloaded, 1);

  EXPECT_TRUE(NeverFits(Refusal(absl::StatusCode::kResourceExhausted, "big", "RESPONSE_TOO_LARGE")));
  EXPECT_FALSE(NeverFits(overloaded));
  EXPECT_FALSE(NeverFits(Refusal(absl::StatusCode::kInvalidArgument, "bad", "INVALID_SHAPE")));
}

TEST(Status, LongMessagesAreCutTo1KiBBetweenCharacters) {
  std::string message(1019, 'a');
  for (int i = 0; i < 100; ++i) message += "ö";

  const grpc::Status status = ToGrpcStatus(absl::InvalidArgumentError(message));

  EXPECT_LE(status.error_message().size(), kMaxMessageBytes);
  EXPECT_THAT(status.error_message(), EndsWith("aö…"));
}

TEST(Status, DetailsOfOthersAreIgnored) {
  const grpc::Status garbage(grpc::StatusCode::NOT_FOUND, "gone", "\xff\xff\xff");

  EXPECT_THAT(FromGrpcStatus(garbage), StatusIs(absl::StatusCode::kNotFound, "gone"));
  EXPECT_THAT(FromGrpcStatus(garbage), ::testing::Not(ReasonIs("A_REASON")));
}

TEST(Status, CodeOutsideTheEnumIsUnknown) {
  v1::RequestStatus status;
  status.set_code(77);

  EXPECT_THAT(FromRequestStatus(status), StatusIs(absl::StatusCode::kUnknown, ""));
}

}  // namespace
}  // namespace embd::wire

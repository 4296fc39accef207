#include "proto/wire/status.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/any.pb.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/unknown_field_set.h"

namespace embd::wire {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// google.rpc's messages are not in Debian, and a second definition of them would clash with that of a program that has
// them; so they are read and written field by field. Source of the numbers: google/rpc/status.proto and
// error_details.proto.
constexpr char kErrorInfoUrl[] = "type.googleapis.com/google.rpc.ErrorInfo";
constexpr char kRetryInfoUrl[] = "type.googleapis.com/google.rpc.RetryInfo";
constexpr int kStatusCode = 1;
constexpr int kStatusMessage = 2;
constexpr int kStatusDetails = 3;
constexpr int kErrorInfoReason = 1;
constexpr int kErrorInfoDomain = 2;
constexpr int kRetryInfoDelay = 1;

std::string Serialize(const UnknownFieldSet& fields) {
  std::string bytes;
  fields.SerializeToString(&bytes);
  return bytes;
}

std::string Cut(absl::string_view message) {
  constexpr absl::string_view kEllipsis = "…";
  if (message.size() <= kMaxMessageBytes) return std::string(message);
  std::size_t end = kMaxMessageBytes - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
  return absl::StrCat(message.substr(0, end), kEllipsis);
}

void AddDetail(const char* type_url, const std::string& value, UnknownFieldSet* status) {
  google::protobuf::Any detail;
  detail.set_type_url(type_url);
  detail.set_value(value);
  status->AddLengthDelimited(kStatusDetails, detail.SerializeAsString());
}

std::string Details(const absl::Status& status, const std::string& message) {
  const std::string reason = Reason(status);
  const auto retry_after_ms = RetryAfterMs(status);
  if (reason.empty() && !retry_after_ms.has_value()) return "";
  UnknownFieldSet fields;
  fields.AddVarint(kStatusCode, static_cast<std::uint64_t>(status.code()));
  fields.AddLengthDelimited(kStatusMessage, message);
  if (!reason.empty()) {
    UnknownFieldSet info;
    info.AddLengthDelimited(kErrorInfoReason, reason);
    info.AddLengthDelimited(kErrorInfoDomain, kErrorDomain);
    AddDetail(kErrorInfoUrl, Serialize(info), &fields);
  }
  if (retry_after_ms.has_value()) {
    google::protobuf::Duration delay;
    delay.set_seconds(*retry_after_ms / 1000);
    delay.set_nanos(static_cast<std::int32_t>(*retry_after_ms % 1000) * 1'000'000);
    UnknownFieldSet info;
    info.AddLengthDelimited(kRetryInfoDelay, delay.SerializeAsString());
    AddDetail(kRetryInfoUrl, Serialize(info), &fields);
  }
  return Serialize(fields);
}

// The first length-delimited field of that number, or nothing.
const std::string* FindText(const UnknownFieldSet& fields, int number) {
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.number() == number && field.type() == UnknownField::TYPE_LENGTH_DELIMITED)
      return &field.length_delimited();
  }
  return nullptr;
}

void ReadDetail(const google::protobuf::Any& detail, absl::Status* status) {
  UnknownFieldSet fields;
  if (!fields.ParseFromString(detail.value())) return;
  if (detail.type_url() == kErrorInfoUrl) {
    const std::string* const domain = FindText(fields, kErrorInfoDomain);
    const std::string* const reason = FindText(fields, kErrorInfoReason);
    if (domain != nullptr && *domain == kErrorDomain && reason != nullptr) {
      status->SetPayload(kReasonPayload, absl::Cord(*reason));
    }
  } else if (detail.type_url() == kRetryInfoUrl) {
    const std::string* const bytes = FindText(fields, kRetryInfoDelay);
    google::protobuf::Duration delay;
    constexpr std::int64_t kMaxSeconds = std::int64_t{1} << 40;
    if (bytes != nullptr && delay.ParseFromString(*bytes) && delay.seconds() >= 0 && delay.seconds() < kMaxSeconds) {
      SetRetryAfterMs(status, delay.seconds() * 1000 + delay.nanos() / 1'000'000);
    }
  }
}

absl::StatusCode CodeFromNumber(int code) {
  return code >= 0 && code <= 16 ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown;
}

}  // namespace

std::string Reason(const absl::Status& status) {
  const auto payload = status.GetPayload(kReasonPayload);
  return payload.has_value() ? std::string(*payload) : std::string();
}

std::optional<std::int64_t> RetryAfterMs(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryAfterPayload);
  std::int64_t retry_after_ms = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &retry_after_ms)) return std::nullopt;
  return retry_after_ms;
}

void SetRetryAfterMs(absl::Status* status, std::int64_t retry_after_ms) {
  status->SetPayload(kRetryAfterPayload, absl::Cord(absl::StrCat(retry_after_ms)));
}

bool NeverFits(const absl::Status& status) {
  return status.code() == absl::StatusCode::kResourceExhausted && !RetryAfterMs(status).has_value();
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const std::string message = Cut(status.message());
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message, Details(status, message));
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status result(CodeFromNumber(status.error_code()), status.error_message());
  UnknownFieldSet fields;
  if (!status.error_details().empty() && fields.ParseFromString(status.error_details())) {
    for (int i = 0; i < fields.field_count(); ++i) {
      const UnknownField& field = fields.field(i);
      google::protobuf::Any detail;
      if (field.number() == kStatusDetails && field.type() == UnknownField::TYPE_LENGTH_DELIMITED &&
          detail.ParseFromString(field.length_delimited())) {
        ReadDetail(detail, &result);
      }
    }
  }
  return result;
}

v1::RequestStatus ToRequestStatus(const absl::Status& status) {
  v1::RequestStatus result;
  result.set_code(static_cast<int>(status.code()));
  result.set_message(Cut(status.message()));
  result.set_reason(Reason(status));
  if (const auto retry_after_ms = RetryAfterMs(status)) result.set_retry_after_ms(*retry_after_ms);
  return result;
}

absl::Status FromRequestStatus(const v1::RequestStatus& status) {
  absl::Status result(CodeFromNumber(status.code()), status.message());
  if (!status.reason().empty()) result.SetPayload(kReasonPayload, absl::Cord(status.reason()));
  if (status.has_retry_after_ms()) SetRetryAfterMs(&result, status.retry_after_ms());
  return result;
}

}  // namespace embd::wire

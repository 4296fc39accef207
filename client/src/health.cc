#include "health.h"

#include "google/protobuf/unknown_field_set.h"
#include "grpcpp/support/proto_buffer_reader.h"

namespace embd::client {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// Source of the numbers: grpc/health/v1/health.proto.
constexpr int kRequestService = 1;
constexpr int kResponseStatus = 1;

}  // namespace

grpc::ByteBuffer HealthRequest(const std::string& service) {
  UnknownFieldSet fields;
  if (!service.empty()) fields.AddLengthDelimited(kRequestService, service);
  std::string bytes;
  fields.SerializeToString(&bytes);
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

absl::StatusOr<HealthStatus> ReadHealthReply(grpc::ByteBuffer* bytes) {
  UnknownFieldSet fields;
  grpc::ProtoBufferReader reader(bytes);
  if (!bytes->Valid() || !fields.ParseFromZeroCopyStream(&reader)) {
    return absl::InternalError("the server's reply makes no sense: it is no HealthCheckResponse");
  }
  HealthStatus status = HealthStatus::kUnknown;  // what an absent field means
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.number() == kResponseStatus && field.type() == UnknownField::TYPE_VARINT) {
      status = static_cast<HealthStatus>(static_cast<int>(field.varint()));
    }
  }
  return status;
}

}  // namespace embd::client

#include "server/oip/request_bytes.h"

#include <array>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "inference/grpc_service.pb.h"
#include "server/core/error.h"

namespace embd::oip {
namespace {

using google::protobuf::internal::WireFormatLite;
using ::inference::ModelInferRequest;

struct Field {
  int number = 0;
  const char* name = "";
  int most = 0;
  int count = 0;
};

}  // namespace

absl::Status CheckFieldCounts(const grpc::ByteBuffer& request) {
  std::array<Field, 4> fields = {{{ModelInferRequest::kParametersFieldNumber, "parameters", 256},
                                  {ModelInferRequest::kInputsFieldNumber, "inputs", 64},
                                  {ModelInferRequest::kOutputsFieldNumber, "outputs", 64},
                                  {ModelInferRequest::kRawInputContentsFieldNumber, "raw_input_contents", 64}}};
  grpc::ByteBuffer view = request;  // shares the slices; the reader takes a non-const buffer
  grpc::ProtoBufferReader reader(&view);
  google::protobuf::io::CodedInputStream stream(&reader);
  while (const std::uint32_t tag = stream.ReadTag()) {
    if (!WireFormatLite::SkipField(&stream, tag)) break;
    for (Field& field : fields) {
      if (field.number != WireFormatLite::GetTagFieldNumber(tag) || ++field.count <= field.most) continue;
      return core::InvalidArgument("INVALID_OPTION",
                                   absl::StrCat("the request has more than ", field.most, " ", field.name));
    }
  }
  return absl::OkStatus();  // what is malformed is found when it is decoded
}

}  // namespace embd::oip

#include "proto/wire/payload_scan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "proto/wire/data_type.h"

namespace embd::wire {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

constexpr std::size_t kMaxBytes = std::numeric_limits<int>::max();  // what CodedInputStream can count

// Reads one message, up to the limit that the caller has pushed. The last payload wins, as protobuf has it for fields
// that are given twice.
bool Scan(CodedInputStream* input, std::span<Level> levels, Payload* payload) {
  Level& level = levels.front();
  StringOutputStream text(&level.others);
  CodedOutputStream others(&text);
  while (input->BytesUntilLimit() > 0) {
    const std::uint32_t tag = input->ReadTag();
    if (tag == 0) return false;
    if (WireFormatLite::GetTagFieldNumber(tag) != level.field ||
        WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(input, tag, &others)) return false;
      continue;
    }
    int size = 0;
    if (!input->ReadVarintSizeAsInt(&size) || size > input->BytesUntilLimit()) return false;
    level.found = true;
    if (levels.size() == 1) {
      *payload = {.offset = static_cast<std::size_t>(input->CurrentPosition()), .size = static_cast<std::size_t>(size)};
      if (!input->Skip(size)) return false;
    } else {
      const auto limit = input->PushLimit(size);
      if (!Scan(input, levels.subspan(1), payload)) return false;
      input->PopLimit(limit);
    }
  }
  return true;
}

// The bytes of a tensor of that shape; nothing if there is no such tensor.
std::optional<std::size_t> TensorBytes(const v1::Tensor& tensor) {
  std::int64_t size = DataTypeSize(tensor.data_type());
  if (size == 0) return std::nullopt;
  bool empty = false;
  for (const std::int64_t extent : tensor.shape()) {
    if (extent < 0) return std::nullopt;
    empty = empty || extent == 0;
    if (!empty && __builtin_mul_overflow(size, extent, &size)) return std::nullopt;
  }
  return empty ? 0 : static_cast<std::size_t>(size);
}

}  // namespace

absl::Status Senseless(absl::string_view why) {
  return absl::InternalError(absl::StrCat("the server's reply makes no sense: ", why));
}

absl::Status ScanAll(grpc::ByteBuffer* bytes, std::span<Level> levels, Payload* payload) {
  if (!bytes->Valid()) return Senseless("it has no message");
  if (bytes->Length() > kMaxBytes) return Senseless(absl::StrCat("it has ", bytes->Length(), " bytes"));
  grpc::ProtoBufferReader reader(bytes);
  CodedInputStream input(&reader);
  input.PushLimit(static_cast<int>(bytes->Length()));
  return Scan(&input, levels, payload) ? absl::OkStatus() : Senseless("its bytes are no such message");
}

absl::Status ReadTensor(const Level& level, const Payload& payload, v1::Tensor* tensor) {
  if (!tensor->ParseFromString(level.others)) return Senseless("its tensor cannot be read");
  if (TensorBytes(*tensor) != payload.size) {
    return Senseless(absl::StrCat(payload.size, " bytes are no ", DataTypeName(tensor->data_type()),
                                  " tensor of shape (", absl::StrJoin(tensor->shape(), ", "), ")"));
  }
  return absl::OkStatus();
}

absl::Status VisitPayload(grpc::ByteBuffer* bytes, const Payload& payload,
                          absl::FunctionRef<absl::Status(std::span<const std::byte>)> visit) {
  const absl::Status outside = absl::InternalError("the tensor is not where it was found");
  if (payload.size > kMaxBytes || payload.offset > kMaxBytes || !bytes->Valid()) return outside;
  grpc::ProtoBufferReader reader(bytes);
  if (payload.offset > 0 && !reader.Skip(static_cast<int>(payload.offset))) return outside;
  for (std::size_t left = payload.size; left > 0;) {
    const void* data = nullptr;
    int size = 0;
    if (!reader.Next(&data, &size)) return outside;
    if (size == 0) continue;
    const std::size_t count = std::min(left, static_cast<std::size_t>(size));
    if (absl::Status status = visit({static_cast<const std::byte*>(data), count}); !status.ok()) return status;
    left -= count;
  }
  return absl::OkStatus();
}

absl::Status CopyPayload(grpc::ByteBuffer* bytes, const Payload& payload, std::span<std::byte> out) {
  if (out.size() != payload.size || payload.size > kMaxBytes || payload.offset > kMaxBytes || !bytes->Valid()) {
    return absl::InternalError("the tensor is not where it was found");
  }
  grpc::ProtoBufferReader reader(bytes);
  CodedInputStream input(&reader);
  const bool copied =
      input.Skip(static_cast<int>(payload.offset)) && input.ReadRaw(out.data(), static_cast<int>(payload.size));
  return copied ? absl::OkStatus() : absl::InternalError("the tensor is not where it was found");
}

}  // namespace embd::wire

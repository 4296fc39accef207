#include "server/service/decoded_bytes.h"

#include <algorithm>
#include <limits>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpcpp/support/proto_buffer_reader.h"

namespace embd::service {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Each with its share of a list that has grown to twice its length, and with what the allocator adds.
constexpr std::int64_t kMessageBytes = 512;
constexpr std::int64_t kStringBytes = 80;
constexpr std::int64_t kNumberBytes = 16;
constexpr int kMaxDepth = 100;  // as protobuf has it

class Weigher {
 public:
  explicit Weigher(CodedInputStream* in) : in_(*in) {}

  // Adds the fields up to the limit; whether they can be read.
  bool AddFields(const Descriptor& type, int depth) {
    if (depth > kMaxDepth) return false;
    while (const std::uint32_t tag = in_.ReadTag()) {
      const FieldDescriptor* const field = type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
      switch (WireFormatLite::GetTagWireType(tag)) {
        case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
          if (!AddDelimited(field, depth)) return false;
          break;
        case WireFormatLite::WIRETYPE_VARINT: {
          std::uint64_t value = 0;
          sum_ += kNumberBytes;
          if (!in_.ReadVarint64(&value)) return false;
          break;
        }
        case WireFormatLite::WIRETYPE_FIXED64:
        case WireFormatLite::WIRETYPE_FIXED32:
          sum_ += kNumberBytes;
          if (!in_.Skip(WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_FIXED64 ? 8 : 4)) return false;
          break;
        default: return false;  // groups, which no message of ours has, are not looked into
      }
    }
    return true;
  }

  [[nodiscard]] std::int64_t sum() const { return sum_; }

 private:
  bool AddDelimited(const FieldDescriptor* field, int depth) {
    std::uint32_t length = 0;
    if (!in_.ReadVarint32(&length) || length > std::uint32_t{std::numeric_limits<int>::max()}) return false;
    const int size = static_cast<int>(length);
    if (field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      sum_ += kMessageBytes;
      const CodedInputStream::Limit limit = in_.PushLimit(size);
      const bool read = AddFields(*field->message_type(), depth + 1);
      in_.PopLimit(limit);
      return read;
    }
    if (field != nullptr && field->is_packable() && IsVarint(*field)) return AddVarints(size);
    // A string, an unknown field, or numbers that stand as they will in memory.
    sum_ += kStringBytes + size;
    return in_.Skip(size);
  }

  static bool IsVarint(const FieldDescriptor& field) {
    switch (field.type()) {
      case FieldDescriptor::TYPE_DOUBLE:
      case FieldDescriptor::TYPE_FLOAT:
      case FieldDescriptor::TYPE_FIXED32:
      case FieldDescriptor::TYPE_FIXED64:
      case FieldDescriptor::TYPE_SFIXED32:
      case FieldDescriptor::TYPE_SFIXED64: return false;
      default: return true;
    }
  }

  // Each ends with a byte below 0x80.
  bool AddVarints(int size) {
    while (size > 0) {
      const void* data = nullptr;
      int available = 0;
      if (!in_.GetDirectBufferPointer(&data, &available)) return false;
      const int taken = std::min(available, size);
      const auto* const bytes = static_cast<const std::uint8_t*>(data);
      sum_ += kNumberBytes * std::count_if(bytes, bytes + taken, [](std::uint8_t byte) { return byte < 0x80; });
      in_.Skip(taken);
      size -= taken;
    }
    return true;
  }

  CodedInputStream& in_;
  std::int64_t sum_ = 0;
};

}  // namespace

std::int64_t DecodedBytes(const grpc::ByteBuffer& bytes, const Descriptor& type) {
  grpc::ByteBuffer view = bytes;  // shares the slices; the reader takes a non-const buffer
  grpc::ProtoBufferReader reader(&view);
  if (!reader.status().ok()) return 0;
  CodedInputStream in(&reader);
  Weigher weigher(&in);
  weigher.AddFields(type, 0);
  return weigher.sum();
}

}  // namespace embd::service

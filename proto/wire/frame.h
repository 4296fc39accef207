#ifndef EMBD_PROTO_WIRE_FRAME_H_
#define EMBD_PROTO_WIRE_FRAME_H_

#include <cstddef>
#include <initializer_list>
#include <string>

#include "google/protobuf/message_lite.h"

namespace embd::wire {

/// One message around a payload: its other fields, and the number of the field that the payload, or the next message on
/// the way to it, stands in. That field is unset in `fields`; it comes last.
struct Enclosing {
  const google::protobuf::MessageLite& fields;
  int payload_field;
};

/// The bytes that, followed by `payload_size` bytes of payload, are the encoding of the outermost message.
///
/// `levels` go from the outermost message inwards; the innermost one's payload field is of type `bytes`. Any client can
/// read the result, and the payload need not be copied into a message. It is what protobuf itself would write where the
/// payload fields have the highest numbers, except that protobuf would leave out the field of an empty payload.
[[nodiscard]] std::string FrameHeader(std::initializer_list<Enclosing> levels, std::size_t payload_size);

}  // namespace embd::wire

#endif  // EMBD_PROTO_WIRE_FRAME_H_

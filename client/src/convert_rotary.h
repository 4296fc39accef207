#ifndef EMBD_CLIENT_SRC_CONVERT_ROTARY_H_
#define EMBD_CLIENT_SRC_CONVERT_ROTARY_H_

#include "embd/client/rotary.h"
#include "embd/v1/rotary.pb.h"

// Between the structs of the library and the messages on the wire. Nothing is checked, nothing fails.
namespace embd::client {

/// Without the vectors.
[[nodiscard]] v1::RotateRequest ToProto(const RotateRequest& request);
[[nodiscard]] v1::RotaryTableRequest ToProto(const RotaryTableRequest& request);

[[nodiscard]] v1::RotaryParameters ToProto(const RotaryParameters& parameters);

[[nodiscard]] RotaryParameters FromProto(const v1::RotaryParameters& parameters);
/// Without the elements.
[[nodiscard]] RotateInfo FromProto(const v1::RotateResponse& response);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CONVERT_ROTARY_H_

#ifndef EMBD_SERVER_OIP_TYPED_CONTENTS_H_
#define EMBD_SERVER_OIP_TYPED_CONTENTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "inference/grpc_service.pb.h"
#include "server/oip/datatype.h"

namespace embd::oip {

/// The elements of typed contents as raw bytes: little-endian, one after the other. FP16 and BF16 have no typed form.
///
/// Errors: INVALID_ARGUMENT [INVALID_OPTION] elements in a field that is not the datatype's, or in several; `where`
/// names the tensor and the model in Triton's words: "'x' for model 'm'".
[[nodiscard]] absl::StatusOr<std::string> RawContents(const ::inference::InferTensorContents& contents,
                                                      Datatype datatype, absl::string_view where);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_TYPED_CONTENTS_H_

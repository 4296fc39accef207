#ifndef EMBD_SERVER_SERVICE_RAW_IDS_H_
#define EMBD_SERVER_SERVICE_RAW_IDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "embd/v1/tensor.pb.h"

// The field ids_tensor of requests: ids as raw INT32, INT64 or UINT32.
namespace embd::service {

/// Checks all but the ids themselves. `rank` is 1 or 2, `expected` what messages say of the shape.
///
/// Errors:
///   INVALID_ARGUMENT  [UNKNOWN_ENUM_VALUE]; [INVALID_OPTION] a type that ids do not have; [INVALID_SHAPE] another
///   rank,
///                     a negative extent, or another size than the shape says
[[nodiscard]] absl::Status CheckRawIds(const v1::Tensor& tensor, int rank, absl::string_view expected);

/// The ids of a checked tensor.
[[nodiscard]] std::vector<std::int64_t> ReadRawIds(const v1::Tensor& tensor);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_RAW_IDS_H_

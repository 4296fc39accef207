#ifndef EMBD_SERVER_OIP_INFER_PARAMETERS_H_
#define EMBD_SERVER_OIP_INFER_PARAMETERS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/map.h"
#include "inference/grpc_service.pb.h"
#include "server/oip/datatype.h"

// The parameters of requests and of their tensors, as grpc_service.proto describes them.
namespace embd::oip {

using Parameters = google::protobuf::Map<std::string, ::inference::InferParameter>;

/// The entries of a message's map in the order of their names. That of the map differs from call to call, and what is
/// found wrong first must not.
template <typename Value>
[[nodiscard]] std::vector<const google::protobuf::MapPair<std::string, Value>*> InOrder(
    const google::protobuf::Map<std::string, Value>& map) {
  std::vector<const google::protobuf::MapPair<std::string, Value>*> entries;
  for (const auto& entry : map) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  return entries;
}

/// What the parameters of a request say.
struct InferParameters {
  std::optional<std::chrono::microseconds> timeout;  ///< above 0
  std::optional<Datatype> output_datatype;           ///< FP32, FP16 or BF16
  bool typed_output = false;
  bool final_response = false;  ///< the reply of a stream says that it is the last one of its request
};

/// `in_stream` allows triton_enable_empty_final_response.
///
/// Errors: INVALID_ARGUMENT [INVALID_OPTION] a value of the wrong type or outside its range; a parameter of sequences,
/// or one that begins with "triton_". Unknown ones are ignored.
[[nodiscard]] absl::StatusOr<InferParameters> ReadInferParameters(const Parameters& parameters, bool in_stream);

/// The output datatype that the parameters name; none where they name none. Errors: as ReadInferParameters.
[[nodiscard]] absl::StatusOr<std::optional<Datatype>> ReadOutputDatatype(const Parameters& parameters);

/// A part of a region of shared memory, not checked yet.
struct RegionPart {
  std::string region;
  std::int64_t offset = 0;
  std::int64_t byte_size = 0;
};

/// Where the elements of tensor `tensor` are to be found, or to be put; none where that is not in shared memory.
///
/// Errors: INVALID_ARGUMENT [INVALID_OPTION] a value of the wrong type; a region without a size, or the other way
/// round.
[[nodiscard]] absl::StatusOr<std::optional<RegionPart>> ReadRegionPart(const std::string& tensor,
                                                                       const Parameters& parameters);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_INFER_PARAMETERS_H_

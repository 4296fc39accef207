#ifndef EMBD_SERVER_SERVICE_NEAREST_QUERIES_H_
#define EMBD_SERVER_SERVICE_NEAREST_QUERIES_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "embd/v1/nearest.pb.h"
#include "server/core/engine/model.h"
#include "server/service/table_choice.h"

namespace embd::service {

/// What a request asks to search for.
struct NearestQueries {
  std::vector<float> vectors;                    ///< (N, D)
  std::vector<std::vector<std::int64_t>> named;  ///< for each query the rows that it names, ascending
};

/// Reads the ids, words, analogies or vectors of a request. An analogy is added up in double and rounded to float32;
/// with METRIC_COSINE of rows of length 1.
///
/// Errors: those of `interrupted`, and
///   INVALID_ARGUMENT     [INVALID_OPTION] no queries, several kinds, too many; words of another table than that of
///   tokens;
///                        [ID_OUT_OF_RANGE], [UNKNOWN_TOKEN], [INVALID_SHAPE], [UNKNOWN_ENUM_VALUE] vectors of no type
///   FAILED_PRECONDITION  [NO_VOCABULARY]
[[nodiscard]] absl::StatusOr<NearestQueries> ReadNearestQueries(const core::Model& model, const ChosenTable& table,
                                                                const v1::NearestTokensRequest& request,
                                                                absl::FunctionRef<absl::Status()> interrupted);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_NEAREST_QUERIES_H_

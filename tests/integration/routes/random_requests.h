#ifndef EMBD_TESTS_INTEGRATION_ROUTES_RANDOM_REQUESTS_H_
#define EMBD_TESTS_INTEGRATION_ROUTES_RANDOM_REQUESTS_H_

#include <cstdint>
#include <vector>

#include "embd/v1/embedding.pb.h"
#include "tests/integration/routes/draw.h"
#include "tests/integration/routes/random_models.h"

namespace embd::testing {

/// A request, and what its rows are.
struct RandomRequest {
  v1::EmbedRequest message;
  std::vector<std::int64_t> lengths;  ///< of its rows
  std::int64_t padded_to = 0;         ///< T of a reply that is not packed
};

/// A request that the model answers: ragged, padded, packed or rectangular; with ids, ids_tensor or vectors; with or
/// without positions, offsets, token types and a mask.
[[nodiscard]] RandomRequest DrawRequest(Draw& draw, const RandomModel& model);

/// Row `row` of a request that has no `unique`, as a request of its own: rectangular, and nothing padded.
[[nodiscard]] v1::EmbedRequest RowAlone(const RandomRequest& request, std::size_t row);

/// The elements of that row in the request's reply.
[[nodiscard]] std::string RowOfReply(const RandomRequest& request, const v1::EmbedResponse& reply, std::size_t row);

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_ROUTES_RANDOM_REQUESTS_H_

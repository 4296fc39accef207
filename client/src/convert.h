#ifndef EMBD_CLIENT_SRC_CONVERT_H_
#define EMBD_CLIENT_SRC_CONVERT_H_

#include <vector>

#include "embd/client/admin.h"
#include "embd/client/diagnostics.h"
#include "embd/client/embedding.h"
#include "embd/client/region.h"
#include "embd/v1/admin.pb.h"
#include "embd/v1/diagnostics.pb.h"
#include "embd/v1/embedding.pb.h"

// Between the structs of the library and the messages on the wire. Nothing is checked, nothing fails.
namespace embd::client {

/// Without inputs_embeds, whose elements need no place in a message; see request_bytes.h.
[[nodiscard]] v1::EmbedRequest ToProto(const EmbedRequest& request);

/// Type and shape, without the elements.
[[nodiscard]] v1::Tensor HeadToProto(const InputTensor& tensor);

[[nodiscard]] v1::DescribeModelRequest ToProto(const DescribeModelRequest& request);
[[nodiscard]] v1::LookUpTokensRequest ToProto(const LookUpTokensRequest& request);
[[nodiscard]] v1::NeighbourSimilarityRequest ToProto(const NeighbourSimilarityRequest& request);

/// Without the tensor's elements.
[[nodiscard]] EmbedInfo FromProto(const v1::EmbedResponse& response);
[[nodiscard]] EmbedInfo FromProto(const v1::EmbedChunksHeader& header);
[[nodiscard]] std::vector<ModelSummary> FromProto(const v1::ListModelsResponse& response);
[[nodiscard]] ModelDescription FromProto(const v1::DescribeModelResponse& response);
[[nodiscard]] TokenIds FromProto(const v1::LookUpTokensResponse& response);
[[nodiscard]] NeighbourCurve FromProto(const v1::NeighbourSimilarityResponse& response);
[[nodiscard]] ServerInfo FromProto(const v1::GetServerInfoResponse& response);

[[nodiscard]] LoadedModel FromProto(const v1::LoadedModel& model);
[[nodiscard]] ReloadReport FromProto(const v1::ReloadConfigResponse& response);

[[nodiscard]] v1::RegisterRegionRequest ToRequest(const Region& region);
[[nodiscard]] std::vector<Region> FromProto(const v1::ListRegionsResponse& response);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CONVERT_H_

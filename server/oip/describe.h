#ifndef EMBD_SERVER_OIP_DESCRIBE_H_
#define EMBD_SERVER_OIP_DESCRIBE_H_

#include "inference/grpc_service.pb.h"
#include "server/oip/context.h"
#include "server/oip/servable.h"

// The server and its models, as messages.
namespace embd::oip {

[[nodiscard]] ::inference::ServerMetadataResponse DescribeServer(const Context& context);

[[nodiscard]] ::inference::ModelMetadataResponse DescribeModel(const Servable& servable);

[[nodiscard]] ::inference::ModelConfigResponse DescribeConfig(const Servable& servable);

[[nodiscard]] ::inference::ModelStatistics DescribeStatistics(const Context& context, const Servable& servable);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_DESCRIBE_H_

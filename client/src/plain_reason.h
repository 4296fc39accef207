#ifndef EMBD_CLIENT_SRC_PLAIN_REASON_H_
#define EMBD_CLIENT_SRC_PLAIN_REASON_H_

#include <string>

#include "embd/client/diagnostics.h"
#include "embd/client/embedding.h"

// What stands against composing a batch from kept rows; "" where nothing does.
namespace embd::client {

/// What of the model does: more than a token row and the row of a position that the batch alone decides.
[[nodiscard]] std::string WhyModelIsPlain(const ModelDescription& model);

/// What of the request does: fields that ask for more, or that a server would refuse. The model is none that
/// WhyModelIsPlain has something against.
[[nodiscard]] std::string WhyRequestIsPlain(const EmbedRequest& request, const ModelDescription& model,
                                            const ServerLimits& limits);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_PLAIN_REASON_H_

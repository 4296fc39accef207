#ifndef EMBD_CLIENT_CHANNEL_H_
#define EMBD_CLIENT_CHANNEL_H_

#include <memory>

#include "absl/time/time.h"
#include "embd/client/client.h"
#include "grpcpp/channel.h"

// The one header that needs gRPC's: for those who bring a channel of their own, with other credentials or in-process.
namespace embd::client {

/// Asks through `channel`, which is not null, with whatever credentials, limits and retries it was made with.
/// `timeout` is as ClientOptions::timeout. A call that breaks off between blocks of rows is taken up again as by
/// default.
///
/// gRPC refuses messages over 4 MiB by default: a channel for larger tensors needs SetMaxReceiveMessageSize(-1).
[[nodiscard]] Client FromChannel(std::shared_ptr<grpc::Channel> channel, absl::Duration timeout = absl::Seconds(60));

}  // namespace embd::client

#endif  // EMBD_CLIENT_CHANNEL_H_

#ifndef EMBD_SERVER_APP_CONNECTION_ARGUMENTS_H_
#define EMBD_SERVER_APP_CONNECTION_ARGUMENTS_H_

#include "grpcpp/server_builder.h"
#include "server/config/server_config.h"

namespace embd::app {

/// Tells gRPC how connections are kept, and how many calls one may have open at a time.
///
/// Pings need no call under way, in either direction: the server finds peers that are gone although they ask for
/// nothing, and a client that holds a connection ready may do the same. The third ping that comes too early ends the
/// connection with GOAWAY too_many_pings.
void SetConnectionArguments(const config::Connections& connections, const config::Limits& limits,
                            grpc::ServerBuilder* builder);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_CONNECTION_ARGUMENTS_H_

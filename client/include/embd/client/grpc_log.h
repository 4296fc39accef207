#ifndef EMBD_CLIENT_GRPC_LOG_H_
#define EMBD_CLIENT_GRPC_LOG_H_

namespace embd::client {

/// Turns off the lines that gRPC itself writes to standard error, in the whole process and for good, unless the
/// variable GRPC_VERBOSITY is set. The library never does so by itself: it is for programs that report every error
/// themselves.
///
/// Thread safety: thread-safe; meant to be called once, before the first Client is made.
void SilenceGrpcLog();

}  // namespace embd::client

#endif  // EMBD_CLIENT_GRPC_LOG_H_

#ifndef EMBD_TESTS_BENCH_BYTES_FIELD_SERVER_H_
#define EMBD_TESTS_BENCH_BYTES_FIELD_SERVER_H_

#include <memory>
#include <string>

#include "grpcpp/grpcpp.h"
#include "server/config/server_config.h"
#include "server/core/engine/model_registry.h"

namespace embd::bench {

/// The way a gRPC server usually answers: the same models, the same engine and the same message, but the tensor is
/// composed into the `bytes` field of a protobuf message, which gRPC then serializes. What the zero-copy reply is
/// compared with.
class BytesFieldServer {
 public:
  explicit BytesFieldServer(const config::ServerConfig& config);
  BytesFieldServer(const BytesFieldServer&) = delete;
  BytesFieldServer& operator=(const BytesFieldServer&) = delete;
  ~BytesFieldServer();

  [[nodiscard]] std::string tcp_address() const;

 private:
  class Service;
  core::ModelRegistry models_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace embd::bench

#endif  // EMBD_TESTS_BENCH_BYTES_FIELD_SERVER_H_

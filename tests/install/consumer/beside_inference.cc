// A program that has the Open Inference Protocol's messages from elsewhere, and all of the client library. A second
// copy of those messages would end it before main.
#include <iostream>

#include "embd/client/client.h"
#include "google/protobuf/descriptor.h"
#include "grpc_service.pb.h"

int main() {
  inference::ModelInferRequest request;
  request.set_model_name("tiny");
  const auto* const known =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName("inference.ModelInferRequest");
  const auto* const ours =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName("embd.v1.EmbedRequest");
  const auto client = embd::client::Client::Connect("unix:/nonexistent/embd.sock", {.max_attempts = 0});
  const bool good = client.ok() && ours != nullptr && known == request.GetDescriptor() && known->field_count() == 1;
  if (!good) std::cerr << "failed: both libraries' messages are known\n";
  return good ? 0 : 1;
}

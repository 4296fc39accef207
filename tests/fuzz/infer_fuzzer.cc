// One ModelInferRequest as bytes, by ModelInfer and as the only item of ModelStreamInfer: both answer alike.

#include "inference/grpc_service.pb.h"
#include "tests/fuzz/fuzzed_server.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/message_mutator.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  const std::string request(fuzz::Text(bytes, size));
  auto& server = fuzz::FuzzedServer::Get();
  const auto reply = server.Call("/inference.GRPCInferenceService/ModelInfer", request);
  ::inference::ModelInferResponse response;
  if (!reply.ok()) {
    fuzz::CheckRefused(reply.status());
  } else if (!response.ParseFromString(*reply)) {
    fuzz::Fail("a reply can be decoded");
  } else if (response.raw_output_contents_size() != 0 &&
             response.raw_output_contents_size() != response.outputs_size()) {
    fuzz::Fail("every output has its contents");
  }

  ::inference::ModelInferRequest decoded;
  if (!decoded.ParseFromString(request)) return 0;
  const auto answers = server.Stream("/inference.GRPCInferenceService/ModelStreamInfer", {request});
  if (!answers.status.ok()) fuzz::CheckRefused(answers.status);
  if (answers.items.empty()) return 0;
  ::inference::ModelStreamInferResponse item;
  if (!item.ParseFromString(answers.items.front())) fuzz::Fail("an answer can be decoded");
  if (item.error_message() != (reply.ok() ? "" : reply.status().message())) {
    fuzz::Fail("the stream says " + item.error_message() + ", the call " + reply.status().ToString());
  }
  if (!reply.ok()) return 0;
  const auto& streamed = item.infer_response();
  if (streamed.raw_output_contents_size() != response.raw_output_contents_size()) fuzz::Fail("both have the outputs");
  for (int i = 0; i < response.raw_output_contents_size(); ++i) {
    if (streamed.raw_output_contents(i) != response.raw_output_contents(i)) fuzz::Fail("both have the same elements");
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  return embd::fuzz::MutateEncoded(::inference::ModelInferRequest::default_instance(), bytes, size, max_size, seed);
}

// One RotateRequest as bytes.

#include "embd/v1/rotary.pb.h"
#include "tests/fuzz/fuzzed_server.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/message_mutator.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  const auto reply = fuzz::FuzzedServer::Get().Call("/embd.v1.EmbeddingService/Rotate", fuzz::Text(bytes, size));
  if (!reply.ok()) {
    fuzz::CheckRefused(reply.status());
    return 0;
  }
  v1::RotateRequest request;
  v1::RotateResponse response;
  if (!response.ParseFromString(*reply)) fuzz::Fail("a reply can be decoded");
  fuzz::CheckTensor(response.vectors());
  if (!request.ParseFromString(std::string(fuzz::Text(bytes, size)))) fuzz::Fail("what is answered can be decoded");
  const auto& asked = request.vectors().shape();
  if (!std::equal(asked.begin(), asked.end(), response.vectors().shape().begin(), response.vectors().shape().end())) {
    fuzz::Fail("rotating keeps the shape");
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  return embd::fuzz::MutateEncoded(embd::v1::RotateRequest::default_instance(), bytes, size, max_size, seed);
}

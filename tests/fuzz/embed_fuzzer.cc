// One EmbedRequest as bytes, by the unary call.

#include "embd/v1/embedding.pb.h"
#include "tests/fuzz/fuzzed_server.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/message_mutator.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  const auto reply = fuzz::FuzzedServer::Get().Call("/embd.v1.EmbeddingService/Embed", fuzz::Text(bytes, size));
  if (!reply.ok()) {
    fuzz::CheckRefused(reply.status());
    return 0;
  }
  v1::EmbedResponse response;
  if (!response.ParseFromString(*reply)) fuzz::Fail("a reply can be decoded");
  if (!response.has_embeddings()) fuzz::Fail("a reply has embeddings");
  fuzz::CheckTensor(response.embeddings());
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  return embd::fuzz::MutateEncoded(embd::v1::EmbedRequest::default_instance(), bytes, size, max_size, seed);
}

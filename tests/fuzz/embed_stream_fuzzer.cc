// The items of an EmbedStream call, each with its length (two bytes) before it. Every item that can be decoded is
// answered as the unary call answers it.

#include "embd/v1/embedding.pb.h"
#include "proto/wire/status.h"
#include "tests/fuzz/fuzzed_server.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/message_mutator.h"
#include "tests/unit/formats/file_bytes.h"

namespace {

constexpr std::size_t kMaxItems = 8;

std::vector<std::string> Items(absl::string_view bytes) {
  std::vector<std::string> items;
  while (bytes.size() >= 2 && items.size() < kMaxItems) {
    const std::uint64_t size = embd::fuzz::Choices(bytes).Number(2);
    items.emplace_back(bytes.substr(2, size));
    bytes.remove_prefix(2 + items.back().size());
  }
  return items;
}

void CheckAnswer(const std::string& item, const std::string& answer, std::size_t index) {
  using embd::fuzz::Fail;
  embd::v1::EmbedStreamRequest request;
  embd::v1::EmbedStreamResponse response;
  if (!response.ParseFromString(answer)) Fail("an answer can be decoded");
  if (response.index() != static_cast<std::int64_t>(index)) Fail("answers come in the order of the items");
  if (response.has_error()) embd::fuzz::CheckRefused(embd::wire::FromRequestStatus(response.error()));
  if (!request.ParseFromString(item) || request.request_id() != response.request_id()) return;
  const auto alone =
      embd::fuzz::FuzzedServer::Get().Call("/embd.v1.EmbeddingService/Embed", request.request().SerializeAsString());
  if (alone.ok() != response.has_response()) Fail("an item is answered as a call is");
  if (!alone.ok()) {
    const absl::Status error = embd::wire::FromRequestStatus(response.error());
    if (error != alone.status()) Fail(error.ToString() + " is not the call's " + alone.status().ToString());
    return;
  }
  embd::v1::EmbedResponse expected;
  if (!expected.ParseFromString(*alone)) Fail("a reply can be decoded");
  if (expected.embeddings().data() != response.response().embeddings().data()) Fail("an item has the call's elements");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  const std::vector<std::string> items = Items(fuzz::Text(bytes, size));
  const auto answers = fuzz::FuzzedServer::Get().Stream("/embd.v1.EmbeddingService/EmbedStream", items);
  if (!answers.status.ok()) fuzz::CheckRefused(answers.status);
  if (answers.items.size() > items.size()) fuzz::Fail("there is an answer an item");
  if (answers.status.ok() && answers.items.size() != items.size()) fuzz::Fail("every item is answered");
  for (std::size_t i = 0; i < answers.items.size(); ++i) CheckAnswer(items[i], answers.items[i], i);
  return 0;
}

// Changes one of the items.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  std::vector<std::string> items = Items(embd::fuzz::Text(bytes, size));
  if (items.empty()) items.emplace_back();
  if (seed % 16 == 0 && items.size() < kMaxItems) items.push_back(items.front());
  std::string& item = items[seed / 16 % items.size()];
  std::string changed = item;
  changed.resize(item.size() + 256);
  changed.resize(embd::fuzz::MutateEncoded(embd::v1::EmbedStreamRequest::default_instance(),
                                           reinterpret_cast<std::uint8_t*>(changed.data()), item.size(), changed.size(),
                                           seed / 64));
  item = changed;
  std::string joined;
  for (const std::string& each : items) joined += embd::formats::LittleEndian(each.size(), 2) + each;
  if (joined.size() > max_size) return size;
  std::copy(joined.begin(), joined.end(), bytes);
  return joined.size();
}

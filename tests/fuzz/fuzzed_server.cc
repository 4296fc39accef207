#include "tests/fuzz/fuzzed_server.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "grpcpp/generic/generic_stub.h"
#include "proto/wire/status.h"
#include "server/config/load.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/support/byte_buffer.h"
#include "tests/unit/formats/file_bytes.h"

namespace embd::fuzz {
namespace {

using testing::ToBuffer;
using testing::ToBytes;

constexpr char kConfig[] = R"(
server:
  listen: [unix:FOLDER/embd.sock]
  metrics: { listen: none }
  log: { level: error }
  limits: { max_request_bytes: 1MiB, max_response_bytes: 1MiB, max_batch_size: 64, max_sequence_length: 64 }
models:
  - name: tiny
    token: { seeded: { vocab_size: 10, embedding_dim: 4 } }
    position: { learned: { seeded: { max_context_length: 8 } } }
    token_type: { seeded: { type_vocab_size: 2 } }
    layer_norm: { weight: { file: FOLDER/weight.npy } }
  - name: masked
    token: { seeded: { vocab_size: 10, embedding_dim: 4 }, out_of_range: zero }
    position: { sinusoidal: { max_context_length: 4, grow_to: 32 }, numbering: mask, row_offset: 2 }
    zero_masked: true
  - name: padded
    token: { seeded: { vocab_size: 10, embedding_dim: 4 }, scale: sqrt_dim, out_of_range: { unk: 3 } }
    position: { learned: { seeded: { max_context_length: 12 } }, numbering: padding }
    padding_idx: 1
  - name: turned
    token: { seeded: { vocab_size: 10, embedding_dim: 8 } }
    position:
      rotary:
        head_dim: 4
        layer_types:
          local: { theta: 500000, scaling: { type: llama3, factor: 8, low_freq_factor: 1, high_freq_factor: 4,
                                             original_max_position_embeddings: 8192 } }
)";

// The only thread that uses a queue waits for one event.
bool Next(grpc::CompletionQueue* queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue->Next(&tag, &ok) && ok;
}

void Drain(grpc::CompletionQueue* queue) {
  queue->Shutdown();
  while (Next(queue)) {
  }
}

}  // namespace

FuzzedServer& FuzzedServer::Get() {
  static auto* const server = new FuzzedServer();
  return *server;
}

FuzzedServer::FuzzedServer() {
  static InputFile weight("weight.npy");
  weight.Write(formats::NpyFile(formats::NpyDict("'<f4'", "(4,)"), formats::Raw<float>({1, 2, -2, 1})));
  const auto config = config::ParseYaml(absl::StrReplaceAll(kConfig, {{"FOLDER", weight.folder()}}), "fuzz.yaml");
  if (!config.ok()) Fail(config.status().ToString());
  auto server = app::EmbeddingServer::Start(*config);
  if (!server.ok()) Fail(server.status().ToString());
  server_ = *std::move(server);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  channel_ = server_->InProcessChannel(arguments);
}

absl::StatusOr<std::string> FuzzedServer::Call(const std::string& method, absl::string_view request) {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareUnaryCall(&context, method, ToBuffer(request), &queue);
  grpc::ByteBuffer reply;
  grpc::Status status;
  call->StartCall();
  call->Finish(&reply, &status, nullptr);
  (void)Next(&queue);
  Drain(&queue);
  if (!status.ok()) return wire::FromGrpcStatus(status);
  return ToBytes(reply);
}

FuzzedServer::Answers FuzzedServer::Stream(const std::string& method, const std::vector<std::string>& requests) {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(&context, method, &queue);
  call->StartCall(nullptr);
  (void)Next(&queue);
  for (const std::string& request : requests) {
    call->Write(ToBuffer(request), nullptr);
    if (!Next(&queue)) break;
  }
  call->WritesDone(nullptr);
  (void)Next(&queue);
  Answers answers;
  while (true) {
    grpc::ByteBuffer reply;
    call->Read(&reply, nullptr);
    if (!Next(&queue)) break;
    answers.items.push_back(ToBytes(reply));
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  (void)Next(&queue);
  Drain(&queue);
  if (!status.ok()) answers.status = wire::FromGrpcStatus(status);
  return answers;
}

void CheckRefused(const absl::Status& status) {
  CheckRefusal(status, "");
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnimplemented: return;
    default: Fail(absl::StrCat("no such code for a request: ", status.ToString()));
  }
}

void CheckTensor(const v1::Tensor& tensor) {
  std::size_t bytes = 0;
  switch (tensor.data_type()) {
    case v1::DATA_TYPE_FLOAT32: bytes = 4; break;
    case v1::DATA_TYPE_FLOAT16:
    case v1::DATA_TYPE_BFLOAT16: bytes = 2; break;
    default: Fail("a reply has elements of a type that was asked for");
  }
  for (const std::int64_t size : tensor.shape()) bytes *= static_cast<std::size_t>(size);
  if (bytes != tensor.data().size()) Fail("a reply has the bytes of its shape");
}

}  // namespace embd::fuzz

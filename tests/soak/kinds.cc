#include "tests/soak/kinds.h"

#include <chrono>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"

namespace embd::soak {
namespace {

using client::CallOptions;
using client::Chunks;
using client::DataType;
using Answers = absl::StatusOr<std::vector<Answer>>;

// Every table has at least as many rows.
constexpr std::int64_t kIds = 320;

std::vector<std::int64_t> Ids(std::int64_t count, std::int64_t step) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < count; ++i) ids.push_back((i * step + 3) % kIds);
  return ids;
}

std::string Bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return Bytes(std::as_bytes(std::span(values)));
}

struct Batch {
  std::int64_t rows = 1;
  std::int64_t tokens = 1;
  Chunks chunks = Chunks::kNever;
  DataType type = DataType::kFloat32;
};

client::EmbedRequest Request(const std::string& model, const Batch& batch, std::int64_t step = 7) {
  return {.model = model,
          .ids = Ids(batch.rows * batch.tokens, step),
          .batch_size = batch.rows,
          .sequence_length = batch.tokens,
          .output_type = batch.type};
}

CallOptions With(const Batch& batch, CallOptions options) {
  options.chunks = batch.chunks;
  return options;
}

Answers AnswerOf(const absl::StatusOr<client::Embedding>& reply) {
  if (!reply.ok()) return reply.status();
  return std::vector<Answer>{{reply->info().checksum, Bytes(reply->bytes())}};
}

Kind Embed(const std::string& name, const std::string& model, const Batch& batch) {
  return {name, model,
          [=](const Caller& caller, const CallOptions& options) {
            return AnswerOf(caller.client->Embed(Request(model, batch), With(batch, options)));
          },
          batch.rows * batch.tokens > 1024};
}

Kind EmbedAsync(const std::string& model, const Batch& batch) {
  return {"Embed, asynchronous", model, [=](const Caller& caller, const CallOptions& options) {
            return AnswerOf(caller.client->EmbedAsync(Request(model, batch), options).get());
          }};
}

// Twelve requests, each for other ids, under way at once.
Kind Stream(const std::string& model) {
  return {"EmbedStream", model, [=](const Caller& caller, const CallOptions& options) -> Answers {
            constexpr std::int64_t kRequests = 12;
            auto stream = caller.client->OpenStream(options);
            if (!stream.ok()) return stream.status();
            for (std::int64_t i = 0; i < kRequests; ++i) {
              if (!stream->Send(Request(model, {.rows = 2, .tokens = 32}, 7 + i)).ok()) break;  // Receive tells why
            }
            (void)stream->CloseSending();
            std::vector<Answer> answers;
            while (true) {
              auto item = stream->Receive();
              if (!item.ok()) return item.status();
              if (!item->has_value()) break;
              const auto& embedding = (*item)->result;
              if (!embedding.ok()) return embedding.status();
              answers.push_back({embedding->info().checksum, Bytes(embedding->bytes())});
            }
            if (answers.size() != kRequests) return absl::DataLossError("a stream has ended before its last answer");
            return answers;
          }};
}

Kind Bags(const std::string& first, const std::string& second) {
  return {"EmbedBags", absl::StrCat(first, ", ", second),
          [=](const Caller& caller, const CallOptions& options) -> Answers {
            const auto bag = [](const std::string& model, client::BagMode mode) {
              return client::Bag{.model = model, .ids = Ids(60, 11), .row_lengths = {10, 0, 49, 1}, .mode = mode};
            };
            const auto reply = caller.client->EmbedBags(
                {.bags = {bag(first, client::BagMode::kMean), bag(second, client::BagMode::kMax)}}, options);
            if (!reply.ok()) return reply.status();
            Answer answer = {absl::StrJoin(reply->checksums, " ")};
            for (const client::OutputTensor& tensor : reply->embeddings) answer.bytes += tensor.data;
            return std::vector<Answer>{answer};
          }};
}

Kind Rotate(const std::string& model) {
  return {"Rotate", model, [=](const Caller& caller, const CallOptions& options) -> Answers {
            constexpr std::int64_t kTokens = 48, kDim = 64;
            std::vector<float> vectors;
            for (int i = 0; i < kTokens * kDim; ++i) vectors.push_back(static_cast<float>(i % 97) / 16);
            const auto reply = caller.client->Rotate(
                {.model = model, .vectors = std::as_bytes(std::span(vectors)), .shape = {1, kTokens, kDim}}, options);
            if (!reply.ok()) return reply.status();
            return std::vector<Answer>{{"", Bytes(reply->bytes())}};
          }};
}

Kind Nearest(const std::string& model) {
  return {"NearestTokens", model, [=](const Caller& caller, const CallOptions& options) -> Answers {
            const auto reply = caller.client->NearestTokens({.model = model, .ids = {5, 77}, .top_k = 8}, options);
            if (!reply.ok()) return reply.status();
            Answer answer;
            for (const auto& rows : reply->queries) {
              for (const auto& row : rows) absl::StrAppend(&answer.bytes, row.id, ":", row.score, " ");
            }
            return std::vector<Answer>{answer};
          }};
}

Kind Similarity(const std::string& model) {
  return {"NeighbourSimilarity", model, [=](const Caller& caller, const CallOptions& options) -> Answers {
            const auto reply = caller.client->NeighbourSimilarity({.model = model}, options);
            if (!reply.ok()) return reply.status();
            return std::vector<Answer>{{"", BytesOf(reply->mean_cosine) + BytesOf(reply->min_cosine)}};
          }};
}

// The region is filled before with what no table has, so that a reply that was not written cannot pass.
Kind SharedMemory(const std::string& model, const Batch& batch) {
  const auto ask = [=](const Caller& caller, const CallOptions& options) -> Answers {
    client::EmbedRequest request = Request(model, batch);
    request.output_target = caller.region->Target();
    const auto bytes = caller.region->bytes();
    std::fill(bytes.begin(), bytes.end(), std::byte{0xA5});
    const auto info = caller.local->EmbedToRegion(request, options);
    if (!info.ok()) return info.status();
    if (!info->written || info->written->byte_size > static_cast<std::int64_t>(bytes.size())) {
      return absl::DataLossError("the server does not say what it has written");
    }
    return std::vector<Answer>{
        {info->checksum, Bytes(bytes.first(static_cast<std::size_t>(info->written->byte_size)))}};
  };
  return {"Embed, to shared memory", model, ask, false, false};
}

Kind ModelInfer(const std::string& model) {
  return {"ModelInfer, raw", model, [=](const Caller& caller, const CallOptions& options) -> Answers {
            constexpr std::int64_t kTokens = 40;
            inference::ModelInferRequest request;
            request.set_model_name(model);
            auto* const input = request.add_inputs();
            input->set_name("input_ids");
            input->set_datatype("INT64");
            input->add_shape(1);
            input->add_shape(kTokens);
            request.add_raw_input_contents(BytesOf(Ids(kTokens, 13)));
            grpc::ClientContext context;
            context.set_deadline(absl::ToChronoTime(absl::Now() + options.timeout.value()));
            const std::stop_callback cancel(options.cancel, [&] { context.TryCancel(); });
            inference::ModelInferResponse reply;
            const grpc::Status status = caller.inference->ModelInfer(&context, request, &reply);
            if (!status.ok()) {
              return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
            }
            if (reply.raw_output_contents_size() != 1) return absl::DataLossError("not one output");
            return std::vector<Answer>{{"", reply.raw_output_contents(0)}};
          }};
}

}  // namespace

std::vector<Kind> Kinds(const Caller& caller) {
  constexpr Batch kRow = {}, kSequence = {.tokens = 100}, kLarge = {.rows = 8, .tokens = 200};
  Batch half = kSequence, blocks = kLarge;
  half.type = DataType::kFloat16;
  blocks.chunks = Chunks::kAlways;
  std::vector<Kind> kinds = {
      Embed("Embed, one row", "seeded", kRow),
      Embed("Embed, one row", "words", kRow),
      Embed("Embed, a sequence", "seeded", kSequence),
      Embed("Embed, a sequence", "computed", half),
      Embed("Embed, a sequence", "mapped", kSequence),
      Embed("Embed, a sequence", "flip", kSequence),
      Embed("Embed, a sequence", "flip-mapped", kSequence),
      Embed("Embed, a sequence", "comes-and-goes", kSequence),
      EmbedAsync("words", kSequence),
      EmbedAsync("flip", kSequence),
      Embed("Embed, large", "wide", kLarge),
      Embed("EmbedChunks", "wide", blocks),
      Embed("EmbedChunks", "flip", blocks),
      Embed("EmbedChunks", "mapped", blocks),
      Stream("words"),
      Stream("flip"),
      Stream("flip-mapped"),
      Bags("words", "half"),
      Bags("flip", "seeded"),
      Rotate("rotary"),
      Nearest("half"),
      Similarity("computed"),
  };
  if (caller.local != nullptr) {
    kinds.push_back(SharedMemory("words", kLarge));
    kinds.push_back(SharedMemory("flip", kLarge));
  }
  if (caller.inference != nullptr) {
    kinds.push_back(ModelInfer("words"));
    kinds.push_back(ModelInfer("flip"));
  }
  return kinds;
}

}  // namespace embd::soak

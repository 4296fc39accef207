// Batches, by every form of call there is.

#include <cstddef>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "embd/client/caching_client.h"
#include "gtest/gtest.h"
#include "tests/stress/actor.h"
#include "tests/stress/life.h"

namespace embd::stress {
namespace {

// Of all models that are served, or of the wide one, whose tensors come in blocks.
const Case& Any(Life& life, Actor& actor) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = Corpus::SteadyModels();
    all.insert(all.end(), Corpus::FleetingModels().begin(), Corpus::FleetingModels().end());
    return all;
  }();
  return life.corpus().Any(actor.Among(names), actor.random());
}

Action::Step Unary(Life& life, const client::Client& client) {
  return [&life, client](Actor& actor) {
    const Case& batch = Any(life, actor);
    actor.Expect(batch, client.Embed(batch.request));
  };
}

Action::Step InProcess(Life& life) {
  return [&life, unary = Unary(life, life.InProcess())](Actor& actor) { life.WhileServing([&] { unary(actor); }); };
}

Action::Step Blocks(Life& life) {
  return [&life, client = life.Unix()](Actor& actor) {
    const Case& batch = life.corpus().Any("wide", actor.random());
    const client::CallOptions options = {.chunks = client::Chunks::kAlways,
                                         .max_chunk_bytes = 1000 + Below(actor.random(), 100'000)};
    actor.Expect(batch, client.Embed(batch.request, options));
  };
}

Action::Step Into(Life& life) {
  return [&life, client = life.Tcp()](Actor& actor) {
    const Case& batch = Any(life, actor);
    std::vector<std::byte> out(batch.expected.begin()->second.size());
    const auto info = client.EmbedInto(batch.request, std::span<std::byte>(out));
    if (actor.Answered(batch, info.status())) actor.ExpectBytes(batch, info->checksum, BytesOf(out));
  };
}

Action::Step Slices(Life& life) {
  return [&life, client = life.Tcp()](Actor& actor) {
    const Case& batch = Any(life, actor);
    std::string bytes;
    const auto info = client.EmbedSlices(batch.request, [&bytes](const auto& /*info*/, auto piece) {
      bytes += BytesOf(piece);
      return absl::OkStatus();
    });
    if (actor.Answered(batch, info.status())) actor.ExpectBytes(batch, info->checksum, bytes);
  };
}

// Several calls under way at a time from one thread; half of them by callback.
Action::Step Async(Life& life) {
  return [&life, client = life.Tcp()](Actor& actor) {
    std::vector<std::pair<const Case*, std::future<absl::StatusOr<client::Embedding>>>> calls;
    for (int i = 0; i < 8; ++i) {
      const Case& batch = Any(life, actor);
      if (i % 2 == 0) {
        calls.emplace_back(&batch, client.EmbedAsync(batch.request));
        continue;
      }
      auto done = std::make_shared<std::promise<absl::StatusOr<client::Embedding>>>();
      calls.emplace_back(&batch, done->get_future());
      client.EmbedAsync(batch.request, [done](auto answer) { done->set_value(std::move(answer)); });
    }
    for (auto& [batch, answer] : calls) actor.Expect(*batch, answer.get());
  };
}

// Some batches at once on one stream, then their answers in order.
Action::Step Stream(Life& life, const client::Client& client) {
  return [&life, client](Actor& actor) {
    auto stream = client.OpenStream();
    if (!actor.Answered(stream.status())) return;
    std::vector<const Case*> batches;
    for (std::int64_t i = 1 + Below(actor.random(), 12); i > 0; --i) {
      const Case& batch = Any(life, actor);
      if (!stream->Send(batch.request).ok()) break;  // the answers tell why
      batches.push_back(&batch);
    }
    (void)stream->CloseSending();
    for (const Case* const batch : batches) {
      auto item = stream->Receive();
      if (!actor.Answered(item.status())) return;
      ASSERT_TRUE(item->has_value());
      actor.Expect(*batch, (*item)->result);
    }
  };
}

// One cache for all threads. It is small, so that rows come and go, and "file" has other tables again and again.
Action::Step Caching(Life& life, const std::string& model) {
  const auto client =
      client::CachingClient::Create(life.Tcp(), model, {.max_bytes = 20'000, .max_age = absl::Milliseconds(20)});
  return [&life, client = client.value(), model](Actor& actor) {
    const Case& batch = life.corpus().Any(model, actor.random());
    actor.Expect(batch, client.Embed(batch.request));
    (void)client.statistics();
  };
}

}  // namespace

std::vector<Action> EmbeddingActions() {
  return {{"Embed by TCP", 2, [](Life& life) { return Unary(life, life.Tcp()); }},
          {"Embed by Unix socket", 2, [](Life& life) { return Unary(life, life.Unix()); }},
          {"Embed inside the process", 1, InProcess},
          {"Embed in blocks", 2, Blocks},
          {"EmbedInto", 1, Into},
          {"EmbedSlices", 1, Slices},
          {"EmbedAsync", 2, Async},
          {"EmbedStream by TCP", 1, [](Life& life) { return Stream(life, life.Tcp()); }},
          {"EmbedStream by Unix socket", 1, [](Life& life) { return Stream(life, life.Unix()); }},
          {"caching client", 2, [](Life& life) { return Caching(life, "growing"); }},
          {"caching client, changing tables", 2, [](Life& life) { return Caching(life, "file"); }}};
}

}  // namespace embd::stress

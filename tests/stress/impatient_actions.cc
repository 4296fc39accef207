// Callers that do not wait for their answers.

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/stress/actor.h"
#include "tests/stress/life.h"

namespace embd::stress {
namespace {

client::Chunks AnyChunks(Actor& actor) {
  return Below(actor.random(), 2) == 0 ? client::Chunks::kAlways : client::Chunks::kNever;
}

// Of any order of magnitude up to a quarter of a second.
std::chrono::microseconds AnyPatience(Actor& actor) {
  return std::chrono::microseconds(Below(actor.random(), std::int64_t{1} << Below(actor.random(), 19)));
}

Action::Step ShortDeadlines(Life& life) {
  return [&life, client = life.Tcp()](Actor& actor) {
    const Case& batch = life.corpus().Any("wide", actor.random());
    const auto timeout = absl::FromChrono(AnyPatience(actor));
    actor.Expect(batch, client.Embed(batch.request, {.timeout = timeout, .chunks = AnyChunks(actor)}),
                 {"DEADLINE_EXCEEDED"});
  };
}

Action::Step Cancellations(Life& life) {
  return [&life, client = life.Unix()](Actor& actor) {
    const Case& batch = life.corpus().Any("wide", actor.random());
    std::stop_source stop;
    const client::CallOptions options = {.cancel = stop.get_token(), .chunks = AnyChunks(actor)};
    std::thread canceller([&stop, patience = AnyPatience(actor)] {
      std::this_thread::sleep_for(patience);
      stop.request_stop();
    });
    if (Below(actor.random(), 2) == 0) {
      actor.Expect(batch, client.EmbedAsync(batch.request, options).get(), {"CANCELLED"});
    } else {
      actor.Expect(batch, client.Embed(batch.request, options), {"CANCELLED"});
    }
    canceller.join();
  };
}

// Left with answers unread, by the end of the stream or of the thread's patience.
Action::Step AbandonedStreams(Life& life) {
  return [&life, client = life.Tcp()](Actor& actor) {
    auto stream = client.OpenStream({.timeout = absl::Milliseconds(1 + Below(actor.random(), 200))});
    const std::vector<absl::string_view> refusals = {"DEADLINE_EXCEEDED"};
    if (!actor.Answered(stream.status(), refusals)) return;
    const Case& batch = life.corpus().Any("wide", actor.random());
    for (std::int64_t i = 1 + Below(actor.random(), 8); i > 0; --i) {
      if (!stream->Send(batch.request).ok()) return;
    }
    actor.Pause(2000);
    if (Below(actor.random(), 2) == 0) return;
    if (auto item = stream->Receive(); actor.Answered(item.status(), refusals)) actor.Expect(batch, (*item)->result);
    stream->Cancel();
    while (stream->Receive().ok()) {
    }
  };
}

// A client that goes away waits for its calls.
Action::Step DepartingClients(Life& life) {
  return [&life](Actor& actor) {
    const Case& batch = life.corpus().Any("wide", actor.random());
    std::vector<std::future<absl::StatusOr<client::Embedding>>> answers;
    {
      const client::Client client = life.Tcp();
      for (std::int64_t i = Below(actor.random(), 5); i >= 0; --i) {
        answers.push_back(client.EmbedAsync(batch.request));
      }
    }
    for (auto& answer : answers) {
      ASSERT_EQ(answer.wait_for(std::chrono::seconds(0)), std::future_status::ready);
      actor.Expect(batch, answer.get());
    }
  };
}

}  // namespace

std::vector<Action> ImpatientActions() {
  return {{"short deadlines", 2, ShortDeadlines},
          {"cancellations", 2, Cancellations},
          {"abandoned streams", 1, AbandonedStreams},
          {"departing clients", 1, DepartingClients}};
}

}  // namespace embd::stress

#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "client/cli/load/caller.h"
#include "client/cli/load/ending.h"
#include "client/cli/load/start_thread.h"
#include "client/cli/load/stream_item.h"
#include "client/cli/load/window.h"

namespace embd::cli {
namespace {

// The requests of a stream that have not been answered, oldest first. Thread-safe.
class Outstanding {
 public:
  void Push(const Turn& turn) {
    const std::lock_guard lock(mutex_);
    turns_.push_back(turn);
  }

  std::optional<Turn> TakeOldest() {
    const std::lock_guard lock(mutex_);
    if (turns_.empty()) return std::nullopt;
    const Turn turn = turns_.front();
    turns_.pop_front();
    return turn;
  }

 private:
  std::mutex mutex_;
  std::deque<Turn> turns_;
};

class StreamCaller final : public Caller {
 public:
  StreamCaller(client::Client client, std::int64_t window) : client_(std::move(client)), window_(window) {}

  void Run(SharedLoad& load, Tally& tally) override {
    Tally ends;  // of the receiving thread
    while (!over_) {
      const absl::Status status = RunStream(load, tally, ends);
      FailOutstanding(load, status, ends);
      PauseAfter(load, status);
    }
    tally.Merge(ends);
  }

 private:
  // Until there are no more turns or the stream breaks; then some may be left outstanding, and the status says why.
  absl::Status RunStream(SharedLoad& load, Tally& tally, Tally& ends) {
    absl::StatusOr<client::EmbedStream> stream = client_.OpenStream({.cancel = load.stop});
    if (!stream.ok()) return GiveUpTurn(load, tally, stream.status());
    absl::Status status;
    absl::StatusOr<std::thread> receiver =
        StartThread([this, &load, &ends, &stream, &status] { status = ReceiveAll(load, *stream, ends); });
    if (!receiver.ok()) {
      (void)GiveUpTurn(load, tally, receiver.status());
      over_ = true;
      return receiver.status();
    }
    if (const absl::Status sent = SendAll(load, *stream, tally); !sent.ok() && !absl::IsAborted(sent)) {
      stream->Cancel();
      receiver->join();
      return sent;
    }
    receiver->join();
    return status;
  }

  // A turn that fails because there is no stream to take it.
  absl::Status GiveUpTurn(SharedLoad& load, Tally& tally, const absl::Status& why) {
    TakeTurn(load, tally);
    return why;
  }

  std::optional<Turn> TakeTurn(SharedLoad& load, Tally& tally) {
    window_.Enter();
    const std::optional<Turn> turn = load.pace.Next();
    if (!turn) {
      over_ = true;
      window_.Leave();
      return std::nullopt;
    }
    tally.Start(*turn);
    outstanding_.Push(*turn);
    return turn;
  }

  absl::Status SendAll(SharedLoad& load, client::EmbedStream& stream, Tally& tally) {
    while (const std::optional<Turn> turn = TakeTurn(load, tally)) {
      if (absl::Status status = stream.Send(load.BatchOf(*turn).request); !status.ok()) return status;
    }
    return stream.CloseSending();
  }

  // Where the stream breaks, the sender may be waiting for room, so that what is outstanding is failed here too.
  absl::Status ReceiveAll(SharedLoad& load, client::EmbedStream& stream, Tally& ends) {
    for (std::int64_t index = 0;; ++index) {
      const absl::StatusOr<std::optional<client::StreamItem>> item = stream.Receive();
      if (!item.ok()) {
        FailOutstanding(load, item.status(), ends);
        return item.status();
      }
      if (!item->has_value()) return absl::OkStatus();
      const std::optional<Turn> turn = outstanding_.TakeOldest();
      if (!turn) {
        stream.Cancel();
        return absl::InternalError("the stream gave an answer that was not asked for");
      }
      NoteEnd(load, *turn, CheckItem(load.BatchOf(*turn), **item, index), ends);
      window_.Leave();
    }
  }

  void FailOutstanding(SharedLoad& load, const absl::Status& status, Tally& ends) {
    const absl::Status why = status.ok() ? absl::InternalError("the stream ended without an answer") : status;
    while (const std::optional<Turn> turn = outstanding_.TakeOldest()) {
      NoteEnd(load, *turn, why, ends);
      window_.Leave();
    }
  }

  client::Client client_;
  Window window_;
  Outstanding outstanding_;
  bool over_ = false;  // of the sending thread
};

}  // namespace

std::unique_ptr<Caller> MakeStreamCaller(client::Client client, std::int64_t window) {
  return std::make_unique<StreamCaller>(std::move(client), window);
}

}  // namespace embd::cli

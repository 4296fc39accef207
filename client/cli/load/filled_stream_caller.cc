#include <deque>
#include <optional>
#include <utility>

#include "client/cli/load/caller.h"
#include "client/cli/load/ending.h"
#include "client/cli/load/stream_item.h"

namespace embd::cli {
namespace {

// In one thread: to hand each answer over from a receiving thread to a sending one takes longer than a small call.
class FilledStreamCaller final : public Caller {
 public:
  FilledStreamCaller(client::Client client, std::int64_t window)
      : client_(std::move(client)), window_(static_cast<std::size_t>(window)) {}

  void Run(SharedLoad& load, Tally& tally) override {
    while (!over_) {
      const absl::Status status = RunStream(load, tally);
      const absl::Status why = status.ok() ? absl::InternalError("the stream ended without an answer") : status;
      for (; !outstanding_.empty(); outstanding_.pop_front()) NoteEnd(load, outstanding_.front(), why, tally);
      PauseAfter(load, status);
    }
  }

 private:
  // Until there are no more turns or the stream breaks; then some may be left outstanding, and the status says why.
  absl::Status RunStream(SharedLoad& load, Tally& tally) {
    absl::StatusOr<client::EmbedStream> stream = client_.OpenStream({.cancel = load.stop});
    if (!stream.ok()) {
      TakeTurn(load, tally);  // which fails, because there is no stream to take it
      return stream.status();
    }
    for (std::int64_t index = 0;; ++index) {
      if (absl::Status status = Fill(load, *stream, tally); !status.ok()) return status;
      const absl::StatusOr<std::optional<client::StreamItem>> item = stream->Receive();
      if (!item.ok()) return item.status();
      if (!item->has_value()) return absl::OkStatus();
      if (outstanding_.empty()) return absl::InternalError("the stream gave an answer that was not asked for");
      const Turn turn = outstanding_.front();
      outstanding_.pop_front();
      NoteEnd(load, turn, CheckItem(load.BatchOf(turn), **item, index), tally);
    }
  }

  bool TakeTurn(SharedLoad& load, Tally& tally) {
    const std::optional<Turn> turn = load.pace.Next();
    over_ = !turn.has_value();
    if (over_) return false;
    tally.Start(*turn);
    outstanding_.push_back(*turn);
    return true;
  }

  // Where sending fails because the stream has ended, Receive says why.
  absl::Status Fill(SharedLoad& load, client::EmbedStream& stream, Tally& tally) {
    while (!over_ && outstanding_.size() < window_) {
      const absl::Status status =
          TakeTurn(load, tally) ? stream.Send(load.BatchOf(outstanding_.back()).request) : stream.CloseSending();
      if (absl::IsAborted(status)) return absl::OkStatus();
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  client::Client client_;
  const std::size_t window_;
  std::deque<Turn> outstanding_;  // oldest first
  bool over_ = false;
};

}  // namespace

std::unique_ptr<Caller> MakeFilledStreamCaller(client::Client client, std::int64_t window) {
  return std::make_unique<FilledStreamCaller>(std::move(client), window);
}

}  // namespace embd::cli

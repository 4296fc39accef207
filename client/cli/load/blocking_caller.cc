#include <utility>

#include "client/cli/load/caller.h"
#include "client/cli/load/ending.h"

namespace embd::cli {
namespace {

class BlockingCaller final : public Caller {
 public:
  explicit BlockingCaller(std::unique_ptr<OneCall> call) : call_(std::move(call)) {}

  void Run(SharedLoad& load, Tally& tally) override {
    while (const std::optional<Turn> turn = load.pace.Next()) {
      const Batch& batch = load.BatchOf(*turn);
      tally.Start(*turn);
      const absl::Status status =
          call_->Ask(batch, {.timeout = load.timeout, .cancel = load.stop, .chunks = load.chunks});
      NoteEnd(load, *turn, status, tally);
      PauseAfter(load, status);
    }
  }

 private:
  std::unique_ptr<OneCall> call_;
};

}  // namespace

std::unique_ptr<Caller> MakeBlockingCaller(std::unique_ptr<OneCall> call) {
  return std::make_unique<BlockingCaller>(std::move(call));
}

}  // namespace embd::cli

#include "client/cli/load/ending.h"

namespace embd::cli {

void NoteEnd(SharedLoad& load, const Turn& turn, const absl::Status& status, Tally& tally) {
  const bool abandoned = absl::IsCancelled(status) && load.stop.stop_requested();
  tally.End(turn, load.clock.now(), load.BatchOf(turn), status, abandoned);
  if (turn.measured) load.ended.fetch_add(1, std::memory_order_relaxed);
}

void PauseAfter(const SharedLoad& load, const absl::Status& status) {
  if (absl::IsUnavailable(status)) load.clock.sleep(absl::Milliseconds(10));
}

}  // namespace embd::cli

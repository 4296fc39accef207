#ifndef EMBD_CLIENT_CLI_LOAD_ENDING_H_
#define EMBD_CLIENT_CLI_LOAD_ENDING_H_

#include "absl/status/status.h"
#include "client/cli/load/caller.h"

// What all kinds of callers do when a call has ended.
namespace embd::cli {

/// Notes the end of a call in the caller's tally and for those who look on.
void NoteEnd(SharedLoad& load, const Turn& turn, const absl::Status& status, Tally& tally);

/// Waits a little after a call that found no server: else thousands of them would fail a second, and say nothing.
void PauseAfter(const SharedLoad& load, const absl::Status& status);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_LOAD_ENDING_H_

#include "client/cli/load/start_thread.h"

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace embd::cli {

absl::StatusOr<std::thread> StartThread(std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(absl::StrCat("no thread for another caller: ", error.what()));
  }
}

}  // namespace embd::cli

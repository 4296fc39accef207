#include "client/cli/load/stream_item.h"

#include "absl/strings/str_cat.h"
#include "client/cli/load/one_call.h"

namespace embd::cli {

absl::Status CheckItem(const Batch& batch, const client::StreamItem& item, std::int64_t index) {
  if (!item.result.ok()) return item.result.status();
  if (item.index != index) {
    return absl::InternalError(absl::StrCat("answer ", index, " of the stream says that it is number ", item.index));
  }
  return CheckReply(batch, item.result->info(), item.result->bytes().size());
}

}  // namespace embd::cli

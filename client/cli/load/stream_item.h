#ifndef EMBD_CLIENT_CLI_LOAD_STREAM_ITEM_H_
#define EMBD_CLIENT_CLI_LOAD_STREAM_ITEM_H_

#include <cstdint>

#include "absl/status/status.h"
#include "client/cli/load/batches.h"
#include "embd/client/embedding.h"

namespace embd::cli {

/// Whether `item` is the answer number `index` of its stream, to a request for `batch`.
///
/// Errors: the item's own; INTERNAL for another number, and those of CheckReply.
[[nodiscard]] absl::Status CheckItem(const Batch& batch, const client::StreamItem& item, std::int64_t index);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_LOAD_STREAM_ITEM_H_

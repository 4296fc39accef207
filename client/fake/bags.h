#ifndef EMBD_CLIENT_FAKE_BAGS_H_
#define EMBD_CLIENT_FAKE_BAGS_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "embd/client/bags.h"
#include "embd/client/diagnostics.h"
#include "embd/client/fake_transport.h"

namespace embd::client::fake {

/// The model of that name and version.
using FindModel = std::function<absl::StatusOr<const FakeModel*>(const std::string& name, const std::string& version)>;

/// Pools rows as a server does, one component at a time. A limit of 0 is none.
///
/// Errors: as EmbeddingService.EmbedBags of the .proto.
[[nodiscard]] absl::StatusOr<PooledBags> PoolBags(const EmbedBagsRequest& request, const ServerLimits& limits,
                                                  const FindModel& find);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_BAGS_H_

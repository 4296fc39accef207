#ifndef EMBD_CLIENT_FAKE_COMPOSE_H_
#define EMBD_CLIENT_FAKE_COMPOSE_H_

#include <vector>

#include "client/fake/embed_checks.h"

namespace embd::client::fake {

/// The elements of the reply to a request that has been checked: token, then type, then position, then LayerNorm.
[[nodiscard]] std::vector<float> Compose(const FakeModel& model, const EmbedRequest& request,
                                         const CheckedRequest& checked);

/// The scaled token rows of `ids`, which are in the table.
[[nodiscard]] std::vector<float> RowsOf(const FakeModel& model, const std::vector<std::int64_t>& ids);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_COMPOSE_H_

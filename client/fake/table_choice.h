#ifndef EMBD_CLIENT_FAKE_TABLE_CHOICE_H_
#define EMBD_CLIENT_FAKE_TABLE_CHOICE_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "embd/client/fake_transport.h"

namespace embd::client::fake {

/// One of a model's tables; lives as long as the model.
struct ChosenTable {
  TableKind kind = TableKind::kUnspecified;
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  const float* values = nullptr;

  [[nodiscard]] std::span<const float> row(std::int64_t index) const {
    return {values + index * dim, static_cast<std::size_t>(dim)};
  }
};

/// The table that a request names; kUnspecified means `otherwise`.
///
/// Errors: FAILED_PRECONDITION [NO_POSITION_TABLE], [NO_SUCH_TABLE]; INVALID_ARGUMENT [UNKNOWN_ENUM_VALUE].
[[nodiscard]] absl::StatusOr<ChosenTable> ChooseTable(const FakeModel& model, TableKind named, TableKind otherwise);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_TABLE_CHOICE_H_

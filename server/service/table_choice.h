#ifndef EMBD_SERVER_SERVICE_TABLE_CHOICE_H_
#define EMBD_SERVER_SERVICE_TABLE_CHOICE_H_

#include "absl/status/statusor.h"
#include "embd/v1/table.pb.h"
#include "server/core/engine/model.h"

namespace embd::service {

/// One of a model's tables.
struct ChosenTable {
  v1::TableKind kind = v1::TABLE_KIND_UNSPECIFIED;
  const core::Table* table = nullptr;       ///< of the model, as long as that lives
  const core::ModelTable* entry = nullptr;  ///< what holds `table`
};

/// The table of `model` that a request names; UNSPECIFIED means `otherwise`.
///
/// Errors: FAILED_PRECONDITION [NO_POSITION_TABLE], [NO_SUCH_TABLE]; INVALID_ARGUMENT [UNKNOWN_ENUM_VALUE].
[[nodiscard]] absl::StatusOr<ChosenTable> ChooseTable(const core::Model& model, v1::TableKind named,
                                                      v1::TableKind otherwise);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_TABLE_CHOICE_H_

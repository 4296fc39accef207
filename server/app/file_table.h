#ifndef EMBD_SERVER_APP_FILE_TABLE_H_
#define EMBD_SERVER_APP_FILE_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/app/table_budget.h"
#include "server/config/server_config.h"
#include "server/core/engine/model.h"
#include "server/core/table/vocabulary.h"

namespace embd::app {

/// A model's table as it came from a file.
struct FileTable {
  core::ModelTable table;
  std::optional<core::Vocabulary> vocabulary;  ///< the words of its rows, where they are known
  std::vector<std::string> warnings;           ///< of the loader, and of NaNs
};

/// Loads the table that `file` describes, counts it in `share` unless it is mapped, and does with its NaNs as the
/// policy says.
///
/// Errors: those of formats::LoadTable and TableShare::Add, and
///   INVALID_ARGUMENT  [NAN_IN_TABLE] there are NaNs, and the policy is kReject: how many, and the first one's place.
[[nodiscard]] absl::StatusOr<FileTable> LoadFileTable(const config::TableFile& file, TableShare* share);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_FILE_TABLE_H_

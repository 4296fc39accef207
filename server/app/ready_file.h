#ifndef EMBD_SERVER_APP_READY_FILE_H_
#define EMBD_SERVER_APP_READY_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace embd::app {

/// Writes `{"pid": …, "listen": ["127.0.0.1:8001", …], "metrics": ["127.0.0.1:8002", …]}` to `path`, whole or not at
/// all, for scripts that wait until the server serves or ask which ports it took.
///
/// Errors:
///   FAILED_PRECONDITION  [CANNOT_WRITE] the file cannot be written; with the system's reason.
[[nodiscard]] absl::Status WriteReadyFile(const std::string& path, const std::vector<std::string>& addresses,
                                          const std::vector<std::string>& metrics_addresses = {});

/// Removes what an earlier server may have left at `path`, so that nobody takes it for this one's. Leaves alone what is
/// no regular file.
void RemoveStaleReadyFile(const std::string& path);

/// Removes the file at `path` if it is the one that this process has written.
void RemoveOwnReadyFile(const std::string& path);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_READY_FILE_H_

#include "server/app/ready_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/observability/log_line.h"

namespace embd::app {
namespace {

std::string JsonList(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts)
    absl::StrAppend(&list, list.empty() ? "" : ", ", observability::JsonString(text));
  return absl::StrCat("[", list, "]");
}

// What the file of this process begins with.
std::string Beginning() { return absl::StrCat("{\"pid\": ", getpid(), ", "); }

}  // namespace

absl::Status WriteReadyFile(const std::string& path, const std::vector<std::string>& addresses,
                            const std::vector<std::string>& metrics_addresses) {
  const std::string json = absl::StrCat(Beginning(), "\"listen\": ", JsonList(addresses),
                                        ", \"metrics\": ", JsonList(metrics_addresses), "}\n");
  const std::string temporary = absl::StrCat(path, ".", getpid());
  std::ofstream stream(temporary);
  stream << json << std::flush;
  if (!stream || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(temporary.c_str());
    return core::Error(absl::StatusCode::kFailedPrecondition, "CANNOT_WRITE",
                       absl::StrCat("cannot write ready file ", core::Quote(path), ": ", std::strerror(error)));
  }
  return absl::OkStatus();
}

void RemoveStaleReadyFile(const std::string& path) {
  std::error_code error;  // a file that cannot be looked at or removed is found when the new one is written
  if (std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::regular) {
    std::filesystem::remove(path, error);
  }
}

void RemoveOwnReadyFile(const std::string& path) {
  std::ifstream stream(path);
  std::string text(Beginning().size(), '\0');
  if (stream.read(text.data(), static_cast<std::streamsize>(text.size())) && text == Beginning()) {
    std::remove(path.c_str());
  }
}

}  // namespace embd::app

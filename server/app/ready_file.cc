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

namespace embd::app {
namespace {

// As a JSON string: addresses are hosts, ports and paths.
std::string JsonString(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += absl::StrCat("\\u00", absl::Hex(c, absl::kZeroPad2));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// What the file of this process begins with.
std::string Beginning() { return absl::StrCat("{\"pid\": ", getpid(), ", "); }

}  // namespace

absl::Status WriteReadyFile(const std::string& path, const std::vector<std::string>& addresses) {
  std::string json = absl::StrCat(Beginning(), "\"listen\": [");
  for (std::size_t i = 0; i < addresses.size(); ++i)
    absl::StrAppend(&json, i == 0 ? "" : ", ", JsonString(addresses[i]));
  json += "]}\n";
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

#ifndef EMBD_TESTS_UNIT_FORMATS_SCRATCH_FOLDER_H_
#define EMBD_TESTS_UNIT_FORMATS_SCRATCH_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/string_view.h"

namespace embd::formats {

/// A temporary folder that is gone, with all it holds, when its owner is.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = std::filesystem::temp_directory_path() / "embd-formats-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string Path(const std::string& name) const { return path_ / name; }

  /// Writes a file and returns its path.
  [[nodiscard]] std::string Write(const std::string& name, absl::string_view bytes) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace embd::formats

#endif  // EMBD_TESTS_UNIT_FORMATS_SCRATCH_FOLDER_H_

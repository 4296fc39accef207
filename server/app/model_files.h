#ifndef EMBD_SERVER_APP_MODEL_FILES_H_
#define EMBD_SERVER_APP_MODEL_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/config/server_config.h"

namespace embd::app {

/// What tells one state of a file from another without reading it.
struct FileStamp {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  ///< 0: it is not there
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;  ///< since 1970, of the content
  std::int64_t changed_ns = 0;   ///< since 1970, of the content or of the entry: no tool can set it back

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// The stamps of every file that a model may be made of, in order of path: its `path`, or all regular files of the
/// folder that this is and of the folders in it, and each table and vocabulary that is named, with the files beside it
/// where it is an index of several. Symbolic links count as what they lead to.
[[nodiscard]] std::vector<FileStamp> StampFiles(const config::ModelConfig& model);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_MODEL_FILES_H_

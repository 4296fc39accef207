#ifndef EMBD_TESTS_UNIT_CONFIG_EXAMPLE_FILES_H_
#define EMBD_TESTS_UNIT_CONFIG_EXAMPLE_FILES_H_

#include <fstream>
#include <iterator>
#include <string>

namespace embd::config {

/// The text of a file of this repository, "" where it cannot be read.
inline std::string ReadSourceFile(const std::string& path) {
  std::ifstream file(std::string(EMBD_SOURCE_DIR) + "/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline constexpr const char* kExampleFiles[] = {"docs/examples/lesson.yaml", "docs/examples/guide.yaml",
                                                "docs/examples/article.yaml", "docs/examples/glove.yaml",
                                                "docs/examples/spelled-out.yaml"};

}  // namespace embd::config

#endif  // EMBD_TESTS_UNIT_CONFIG_EXAMPLE_FILES_H_

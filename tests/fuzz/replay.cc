// Runs every file of the given folders through a fuzzer once: what ctest does with the seeds, and what shows a failure
// that was found. A folder that is missing or empty is a failure.
//
//     X_fuzzer FOLDER|FILE…

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/fuzzing.h"

namespace {

std::vector<std::filesystem::path> FilesIn(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

// What the mutators of some fuzzers ask libFuzzer for; nothing is changed in a replay.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* /*bytes*/, std::size_t size, std::size_t /*max_size*/);
std::size_t LLVMFuzzerMutate(std::uint8_t* /*bytes*/, std::size_t size, std::size_t /*max_size*/) { return size; }

int main(int argument_count, char** arguments) {
  for (int i = 1; i < argument_count; ++i) {
    const std::vector<std::filesystem::path> files = FilesIn(arguments[i]);
    for (const std::filesystem::path& path : files) {
      std::ifstream file(path, std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      if (!file) {
        std::fprintf(stderr, "cannot read %s\n", path.c_str());
        return 1;
      }
      // A copy of just that size, so that a sanitizer sees what is read beyond it.
      const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
      std::printf("%s\n", path.filename().c_str());
      std::fflush(stdout);
      (void)LLVMFuzzerTestOneInput(exact.data(), exact.size());
    }
    if (files.empty()) {
      std::fprintf(stderr, "nothing in %s\n", arguments[i]);
      return 1;
    }
    std::printf("%zu inputs of %s: all hold\n", files.size(), arguments[i]);
  }
  return argument_count > 1 ? 0 : 2;
}

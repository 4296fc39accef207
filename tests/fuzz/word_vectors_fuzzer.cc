// Word vectors as text.

#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  static fuzz::InputFile file("words.txt");
  file.Write(fuzz::Text(bytes, size));
  fuzz::CheckLoaded(fuzz::Load({.path = file.path()}), file.path());
  return 0;
}

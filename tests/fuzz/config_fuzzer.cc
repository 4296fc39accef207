// A configuration as YAML. What is accepted is the same when it is read over itself.

#include "server/config/load.h"
#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace embd;  // NOLINT(google-build-using-namespace)
  const absl::string_view text = fuzz::Text(bytes, size);
  const auto config = config::ParseYaml(text, "embd.yaml");
  if (!config.ok()) {
    fuzz::CheckRefusal(config.status(), "embd.yaml");
    return 0;
  }
  const auto again = config::ParseYaml(text, "embd.yaml", *config);
  if (!again.ok() || *again != *config) fuzz::Fail("a file read over itself changes nothing");
  return 0;
}

// In place of redis_caller.cc where hiredis is not installed.
#include "tests/bench/caller.h"

namespace embd::bench {

MadeCaller MakeRedisCaller(const LoadOptions& /*options*/) {
  return absl::UnimplementedError("built without hiredis; apt-get install libhiredis-dev");
}

}  // namespace embd::bench

#include "client/cli/commands/number_range.h"

#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/files/number_text.h"

namespace embd::cli {
namespace {

template <typename T>
CLI::Validator From(T least, T most, bool (*parse)(absl::string_view, T*), const char* kind) {
  const std::string range = absl::StrCat(least, " to ", most);
  return {[least, most, parse, kind, range](std::string& word) {
            T value{};
            if (!parse(word, &value)) return absl::StrCat(Quoted(word), " is not a ", kind);
            if (value >= least && value <= most) return std::string();
            return absl::StrCat(word, " is not in range ", range);
          },
          range};
}

}  // namespace

CLI::Validator SecondsFrom(double least, double most) { return From<double>(least, most, absl::SimpleAtod, "number"); }

CLI::Validator WholeNumberFrom(std::int64_t least, std::int64_t most) {
  return From<std::int64_t>(
      least, most, [](absl::string_view word, std::int64_t* value) { return absl::SimpleAtoi(word, value); },
      "whole number");
}

}  // namespace embd::cli

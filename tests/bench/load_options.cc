#include "tests/bench/load_options.h"

#include <cstdlib>

#include "CLI/CLI.hpp"
#include "tests/bench/gpt2_sized.h"

namespace embd::bench {

std::vector<std::int64_t> LoadOptions::Ids() const {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(batch * tokens));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i) * 7919 % kVocab;
  return ids;
}

std::size_t LoadOptions::TensorBytes() const {
  return static_cast<std::size_t>(batch * tokens * kDim) * (float16 ? sizeof(std::uint16_t) : sizeof(float));
}

LoadOptions ReadLoadOptions(int argc, char** argv) {
  LoadOptions options;
  CLI::App cli("Loads a server of embeddings and prints one line of JSON.", "load_client");
  cli.add_option("--transport", options.transport)->check(CLI::IsMember({"embd", "oip", "floats", "socket", "redis"}));
  cli.add_option("--address", options.address)->required();
  cli.add_option("--mode", options.mode)->check(CLI::IsMember({"unary", "auto", "async", "stream", "shared"}));
  cli.add_option("--batch", options.batch)->check(CLI::PositiveNumber);
  cli.add_option("--tokens", options.tokens)->check(CLI::PositiveNumber);
  cli.add_flag("--float16", options.float16);
  cli.add_option("--callers", options.callers)->check(CLI::PositiveNumber);
  cli.add_flag("--one-connection", options.one_connection);
  cli.add_option("--outstanding", options.outstanding)->check(CLI::PositiveNumber);
  cli.add_option("--seconds", options.seconds)->check(CLI::PositiveNumber);
  cli.add_option("--warm-up-seconds", options.warm_up_seconds)->check(CLI::NonNegativeNumber);
  cli.add_option("--expect", options.expect)->check(CLI::ExistingFile);
  cli.add_option("--server", options.server)->check(CLI::PositiveNumber);
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(cli.exit(error) == 0 ? EXIT_SUCCESS : 2);
  }
  return options;
}

}  // namespace embd::bench

// Embeds a text in (8, 512) batches, in one of four ways, and says how long that took:
//
//   text_client ADDRESS MODEL IDS plain|unique|caching|caching16 [COMPARED_ADDRESS]
//
// IDS is a file of little-endian int32. What does not fill a row is left out, and the last batch may have fewer rows.
//   plain      Embed of each batch
//   unique     the rows of each batch's distinct ids, and position rows once; put together here
//   caching    a CachingClient that begins empty
//   caching16  the same with float16 rows
// With COMPARED_ADDRESS each tensor is compared with that of a plain call to that address, outside the time.
// Prints one line of JSON.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "embd/client/caching_client.h"
#include "embd/client/client.h"
#include "tests/bench/as_embdctl.h"

namespace embd::bench {
namespace {

using client::EmbedRequest;
using client::Part;

constexpr std::int64_t kRows = 8, kTokens = 512;

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "text_client: %s\n", why.c_str());
  std::exit(EXIT_FAILURE);
}

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (!value.ok()) Die(value.status().ToString());
  return *std::move(value);
}

std::vector<std::int64_t> ReadIds(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) Die(std::string("cannot read ") + path);
  std::vector<std::int64_t> ids;
  for (std::int32_t id = 0; file.read(reinterpret_cast<char*>(&id), sizeof id);) ids.push_back(id);
  return ids;
}

std::vector<EmbedRequest> Batches(const std::string& model, const std::vector<std::int64_t>& ids) {
  std::vector<EmbedRequest> batches;
  const auto rows = static_cast<std::int64_t>(ids.size()) / kTokens;
  for (std::int64_t row = 0; row < rows; row += kRows) {
    const std::int64_t count = std::min(kRows, rows - row);
    const auto first = ids.begin() + row * kTokens;
    batches.push_back(
        {.model = model, .ids = {first, first + count * kTokens}, .batch_size = count, .sequence_length = kTokens});
  }
  return batches;
}

// Fills `out` with the tensor of one batch.
using Way = std::function<void(const EmbedRequest& request, std::span<float> out)>;

Way Plain(const client::Client& client) {
  return [client](const EmbedRequest& request, std::span<float> out) { OrDie(client.EmbedInto(request, out)); };
}

Way Unique(const client::Client& client, std::int64_t dim) {
  auto positions = std::make_shared<std::vector<float>>();
  return [client, dim, positions](EmbedRequest request, std::span<float> out) {
    if (positions->empty()) {
      positions->resize(static_cast<std::size_t>(kTokens * dim));
      OrDie(client.EmbedInto(
          {.model = request.model, .batch_size = 1, .sequence_length = kTokens, .part = Part::kPosition},
          std::span<float>(*positions)));
    }
    request.part = Part::kToken;
    request.unique = true;
    const client::Embedding rows = OrDie(client.Embed(request));
    const std::span<const float> values = OrDie(rows.As<float>());
    const auto width = static_cast<std::size_t>(dim);
    for (std::size_t cell = 0; cell < rows.info().inverse.size(); ++cell) {
      const float* const token = values.data() + static_cast<std::size_t>(rows.info().inverse[cell]) * width;
      const float* const position = positions->data() + cell % kTokens * width;
      for (std::size_t d = 0; d < width; ++d) out[cell * width + d] = token[d] + position[d];
    }
  };
}

Way Caching(const client::Client& client, const std::string& model, client::DataType row_type) {
  const auto caching = OrDie(client::CachingClient::Create(client, model, {.row_type = row_type}));
  return [caching](const EmbedRequest& request, std::span<float> out) {
    OrDie(caching.EmbedInto(request, out));
    const client::CachingStatistics statistics = caching.statistics();
    if (statistics.plain_calls > 0) Die("the cache was not used: " + statistics.plain_reason);
  };
}

Way NamedWay(const std::string& name, const client::Client& client, const std::string& model, std::int64_t dim) {
  if (name == "plain") return Plain(client);
  if (name == "unique") return Unique(client, dim);
  if (name == "caching") return Caching(client, model, client::DataType::kUnspecified);
  if (name == "caching16") return Caching(client, model, client::DataType::kFloat16);
  Die("no way \"" + name + "\"; there are plain, unique, caching and caching16");
}

struct Comparison {
  bool equal_bits = true;
  double max_difference = 0;

  void Add(std::span<const float> actual, std::span<const float> expected) {
    equal_bits = equal_bits && std::memcmp(actual.data(), expected.data(), actual.size_bytes()) == 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const double difference = std::abs(double{actual[i]} - double{expected[i]});
      max_difference = difference <= max_difference ? max_difference : difference;  // NaN stays
    }
  }
};

int Run(std::span<char*> arguments) {
  if (arguments.size() < 5 || arguments.size() > 6) Die("ADDRESS MODEL IDS WAY [COMPARED_ADDRESS]");
  const std::string model = arguments[2], name = arguments[4];
  const client::Client client = OrDie(client::Client::Connect(arguments[1]));
  const std::vector<EmbedRequest> batches = Batches(model, ReadIds(arguments[3]));
  if (batches.empty()) Die("the text does not fill a row");
  const bool compares = arguments.size() == 6;
  const client::Client other = compares ? OrDie(client::Client::Connect(arguments[5])) : client;
  // A small call makes the connection, which no way is to pay for.
  const std::int64_t dim = OrDie(client.Embed({.model = model, .batch_size = 0, .sequence_length = 1})).shape()[2];
  const auto width = static_cast<std::size_t>(dim);
  std::vector<float> out(kRows * kTokens * width), expected(compares ? out.size() : 0);

  const Way way = NamedWay(name, client, model, dim);
  Comparison comparison;
  std::chrono::duration<double> elapsed{};
  std::size_t tokens = 0;
  for (const EmbedRequest& request : batches) {
    const std::span<float> tensor(out.data(), request.ids.size() * width);
    const auto started = std::chrono::steady_clock::now();
    way(request, tensor);
    elapsed += std::chrono::steady_clock::now() - started;
    tokens += request.ids.size();
    if (!compares) continue;
    const std::span<float> plain(expected.data(), tensor.size());
    OrDie(other.EmbedInto(request, plain));
    comparison.Add(tensor, plain);
  }
  std::printf("{\"way\": \"%s\", \"tokens\": %zu, \"dim\": %lld, \"seconds\": %.6f", name.c_str(), tokens,
              static_cast<long long>(dim), elapsed.count());
  if (compares) {
    std::printf(", \"equal_bits\": %s, \"max_difference\": %.9g", comparison.equal_bits ? "true" : "false",
                comparison.max_difference);
  }
  std::printf("}\n");
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace embd::bench

int main(int argc, char** argv) {
  embd::bench::SetUpAsEmbdctl();
  return embd::bench::Run({argv, static_cast<std::size_t>(argc)});
}

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/commands/commands.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

constexpr double kSmallestNorm = 1e-8;

struct SimilarOptions {
  std::string model;
  std::array<std::string, 2> words;
  bool are_ids = false;
};

struct Closeness {
  double cosine = 0;
  double dot = 0;
  double distance = 0;
};

absl::StatusOr<std::vector<std::int64_t>> IdsOf(const SimilarOptions& options, const client::Client& client) {
  if (!options.are_ids) {
    auto found = client.LookUpTokens({.model = options.model, .tokens = {options.words.begin(), options.words.end()}});
    if (!found.ok()) return found.status();
    return std::move(found->ids);
  }
  std::vector<std::int64_t> ids;
  for (const std::string& word : options.words) {
    if (!absl::SimpleAtoi(word, &ids.emplace_back())) {
      return absl::InvalidArgumentError(absl::StrCat("\"", word, "\" is not a whole number"));
    }
  }
  return ids;
}

// Of two rows that follow each other, as they are stored: a reply's rows less the model's factor.
Closeness Compare(std::span<const float> rows, double scale) {
  const std::size_t dim = rows.size() / 2;
  double dot = 0;
  double square_a = 0;
  double square_b = 0;
  double square_difference = 0;
  for (std::size_t d = 0; d < dim; ++d) {
    const double a = double{rows[d]} / scale;
    const double b = double{rows[dim + d]} / scale;
    dot += a * b;
    square_a += a * a;
    square_b += b * b;
    square_difference += (a - b) * (a - b);
  }
  const double norms = std::max(std::sqrt(square_a), kSmallestNorm) * std::max(std::sqrt(square_b), kSmallestNorm);
  return {.cosine = std::clamp(dot / norms, -1.0, 1.0), .dot = dot, .distance = std::sqrt(square_difference)};
}

absl::StatusOr<Closeness> Ask(const SimilarOptions& options, const std::vector<std::int64_t>& ids,
                              const client::Client& client) {
  const auto model = client.DescribeModel({.model = options.model});
  if (!model.ok()) return model.status();
  const auto embedding = client.Embed(
      {.model = options.model, .ids = ids, .batch_size = 1, .sequence_length = 2, .part = client::Part::kToken});
  if (!embedding.ok()) return embedding.status();
  const auto rows = embedding->As<float>();
  if (!rows.ok()) return rows.status();
  return Compare(*rows, model->token_scale);
}

Outcome RunSimilar(const SimilarOptions& options, const Session& session) {
  const auto ids = IdsOf(options, session.client);
  if (!ids.ok()) return options.are_ids ? WrongUsage(ids.status()) : Refused(ids.status());
  const absl::StatusOr<Closeness> close = Ask(options, *ids, session.client);
  if (!close.ok()) return Refused(close.status());
  if (session.json) {
    session.PrintJson({{"model", options.model},
                       {"ids", *ids},
                       {"cosine", close->cosine},
                       {"dot", close->dot},
                       {"distance", close->distance}});
  } else {
    session.world.out << FieldsText({{"cosine", absl::StrFormat("%.6f", close->cosine)},
                                     {"dot", absl::StrFormat("%.6f", close->dot)},
                                     {"distance", absl::StrFormat("%.6f", close->distance)}});
  }
  return {};
}

}  // namespace

void AddSimilarCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<SimilarOptions>();
  CLI::App* const command =
      app.add_subcommand("similar", "How close two rows of the token table are: cosine, dot product and distance");
  command->add_option("MODEL", options->model, "Name of a model, see `embdctl models`")->required()->type_name("");
  command->add_option("W1", options->words[0], "A word of the vocabulary")->required()->type_name("");
  command->add_option("W2", options->words[1], "Another")->required()->type_name("");
  command->add_flag("--ids", options->are_ids, "W1 and W2 are ids, not words");
  command->footer("Example: embdctl similar glove king queen");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunSimilar(*options, session); };
  });
}

}  // namespace embd::cli

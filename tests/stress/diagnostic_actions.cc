// Questions about models, whose answers never change.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/stress/actor.h"
#include "tests/stress/life.h"

namespace embd::stress {
namespace {

using client::Client;
using Text = absl::StatusOr<std::string>;

struct Question {
  std::string name;
  std::function<Text(const Client&)> ask;
};

template <typename Answer, typename Write>
Text Written(const absl::StatusOr<Answer>& answer, Write write) {
  if (!answer.ok()) return answer.status();
  return write(*answer);
}

template <typename Number>
std::string Bits(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

std::string Bits(std::span<const float> numbers) { return BytesOf(std::as_bytes(numbers)); }

const std::vector<float>& Vectors() {
  static const std::vector<float> values = [] {
    std::vector<float> made(4 * 8 * 256);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<float>(i % 97) * 0.25f - 12.0f;
    return made;
  }();
  return values;
}

client::InputTensor Tensor(std::vector<std::int64_t> shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return client::InputTensor::FromFloats(std::span(Vectors()).first(count), std::move(shape));
}

Text Rotate(const Client& client) {
  const client::RotateRequest request = {
      .model = "rotary", .vectors = std::as_bytes(std::span(Vectors())), .shape = {4, 128, 16}};
  return Written(client.Rotate(request), [](const auto& answer) { return BytesOf(answer.bytes()); });
}

Text RotaryTable(const Client& client) {
  return Written(client.RotaryTable({.model = "rotary", .first_position = 5, .length = 300}),
                 [](const auto& answer) { return Bits(answer.cos()) + Bits(answer.sin()); });
}

Text Bags(const Client& client) {
  client::EmbedBagsRequest request;
  for (const char* const model : {"wide", "normed", "rotary"}) {
    client::Bag bag = {.model = model, .row_lengths = {0, 30, 170}, .mode = client::BagMode::kSqrtN};
    for (std::int64_t i = 0; i < 200; ++i) bag.ids.push_back(i * 7 % 64);
    request.bags.push_back(std::move(bag));
  }
  request.concatenate = true;
  return Written(client.EmbedBags(request), [](const auto& answer) { return answer.embeddings.at(0).data; });
}

Text Gradient(const Client& client) {
  client::GradientRequest request = {.model = "normed", .batch_size = 4, .sequence_length = 48};
  for (std::int64_t i = 0; i < 192; ++i) request.ids.push_back(i * 11 % 90);
  request.output_gradient = Tensor({4, 48, 32});
  return Written(client.Gradient(request), [](const auto& answer) {
    std::string all;
    for (const auto& table : answer.tables) all += Bits(table.row_ids) + Bits(table.row_norms) + table.rows.data;
    return all;
  });
}

Text Nearest(const Client& client) {
  return Written(client.NearestTokens({.model = "wide", .ids = {0, 9, 63}, .top_k = 40}), [](const auto& answer) {
    std::string all;
    for (const auto& query : answer.queries) {
      for (const auto& row : query) absl::StrAppend(&all, row.id, "=", row.score, " ");
    }
    return all;
  });
}

Text Project(const Client& client) {
  return Written(client.Project({.model = "wide", .vectors = Tensor({8, 256}), .log_probabilities = true}),
                 [](const auto& answer) { return Bits(answer.ids) + Bits(answer.scores) + Bits(answer.log_sum_exp); });
}

Text TableStatistics(const Client& client) {
  return Written(client.TableStatistics({.model = "wide"}), [](const auto& answer) {
    return Bits(std::vector{answer.mean, answer.std, answer.norm_mean, answer.norm_std}) +
           Bits(answer.histogram_counts) + answer.checksum;
  });
}

Text CosineSimilarities(const Client& client) {
  return Written(client.CosineSimilarities({.model = "wide", .row_count = 200}),
                 [](const auto& answer) { return Bits(answer.cosines); });
}

Text NeighbourSimilarity(const Client& client) {
  return Written(client.NeighbourSimilarity({.model = "wide", .max_offset = 20}),
                 [](const auto& answer) { return Bits(answer.mean_cosine) + Bits(answer.min_cosine); });
}

Text PositionWavelengths(const Client& client) {
  return Written(client.PositionWavelengths({.model = "growing"}),
                 [](const auto& answer) { return Bits(answer.wavelengths); });
}

Text ShiftProperty(const Client& client) {
  return Written(client.ShiftProperty({.model = "wide", .max_context_length = 100, .offset = 3}),
                 [](const auto& answer) {
                   return Bits(std::vector{answer.max_residual, answer.rms_residual});
                 });
}

Text ExplainCell(const Client& client) {
  const client::ExplainCellRequest request = {.model = "normed",
                                              .ids = {1, 2, 3, 4, 5, 6},
                                              .batch_size = 2,
                                              .sequence_length = 3,
                                              .batch_index = 1,
                                              .sequence_index = 2};
  return Written(client.ExplainCell(request), [](const auto& answer) {
    return Bits(answer.scaled_values) + Bits(answer.sum) + Bits(answer.embedding);
  });
}

Text DescribeModel(const Client& client) {
  return Written(client.DescribeModel({.model = "normed"}),
                 [](const auto& answer) { return absl::StrCat(answer.checksum, answer.parameter_count); });
}

Text GetServerInfo(const Client& client) {
  return Written(client.GetServerInfo(), [](const auto& answer) {
    return absl::StrCat(answer.version, answer.simd_target, absl::StrJoin(answer.capabilities, " "));
  });
}

// Which models there are changes.
Text ListModels(const Client& client) {
  return Written(client.ListModels(), [](const auto& answer) {
    std::string all;
    for (const auto& model : answer) {
      if (model.name == "wide" || model.name == "normed") absl::StrAppend(&all, model.name, model.byte_size, " ");
    }
    return all;
  });
}

}  // namespace

std::vector<Action> DiagnosticActions() {
  const std::vector<Question> questions = {{"Rotate", Rotate},
                                           {"RotaryTable", RotaryTable},
                                           {"EmbedBags", Bags},
                                           {"Gradient", Gradient},
                                           {"NearestTokens", Nearest},
                                           {"Project", Project},
                                           {"TableStatistics", TableStatistics},
                                           {"CosineSimilarities", CosineSimilarities},
                                           {"NeighbourSimilarity", NeighbourSimilarity},
                                           {"PositionWavelengths", PositionWavelengths},
                                           {"ShiftProperty", ShiftProperty},
                                           {"ExplainCell", ExplainCell},
                                           {"DescribeModel", DescribeModel},
                                           {"GetServerInfo", GetServerInfo},
                                           {"ListModels", ListModels}};
  const auto begin = [questions](Life& life) -> Action::Step {
    return [&life, questions, client = life.Tcp()](Actor& actor) {
      const Question& question =
          questions[static_cast<std::size_t>(Below(actor.random(), static_cast<std::int64_t>(questions.size())))];
      const Text answer = question.ask(client);
      if (actor.Answered(answer.status())) life.world().recall.Expect(question.name, *answer);
    };
  };
  return {{"diagnostics", 4, begin}};
}

}  // namespace embd::stress

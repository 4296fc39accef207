#include "tests/stress/corpus.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/tensor/float_bits.h"
#include "tests/support/served_models.h"
#include "tests/unit/formats/file_bytes.h"

namespace embd::stress {
namespace {

constexpr std::size_t kPlain = 4, kCases = 16;
constexpr std::int64_t kFileRows = 64, kFileDim = 256;  // 1 KiB a row as float32, four rows a page
constexpr std::int64_t kGrowTo = 4096;

// Rows, and positions that a request may name; 0: any.
struct Extents {
  std::int64_t rows = 0;
  std::int64_t positions = 0;
};
const std::map<std::string, Extents>& ExtentsOf() {
  static const std::map<std::string, Extents> extents = {
      {"coming", {40, 32}},       {"configured", {50, 32}}, {"damaged", {kFileRows, 0}}, {"file", {kFileRows, 32}},
      {"growing", {70, kGrowTo}}, {"learned", {100, 64}},   {"mapped", {kFileRows, 0}},  {"normed", {90, 64}},
      {"rotary", {80, 0}},        {"wide", {64, 512}}};
  return extents;
}

config::ModelConfig Small(const std::string& name, std::int64_t dim) {
  const Extents& extents = ExtentsOf().at(name);
  return testing::SmallModel(name, extents.rows, dim, extents.positions);
}

client::EmbedRequest PlainRequest(const std::string& model, Random& random) {
  const bool wide = model == "wide";
  client::EmbedRequest request = {.model = model,
                                  .batch_size = wide ? 4 : 1 + Below(random, 4),
                                  .sequence_length = wide ? 128 : 1 + Below(random, 24)};
  for (std::int64_t i = 0; i < request.batch_size * request.sequence_length; ++i) {
    request.ids.push_back(Below(random, ExtentsOf().at(model).rows));
  }
  return request;
}

// Ragged rows, positions, types, parts and types of elements.
client::EmbedRequest AnyRequest(const std::string& model, Random& random) {
  client::EmbedRequest request = PlainRequest(model, random);
  const std::int64_t positions = ExtentsOf().at(model).positions;
  request.output_type = static_cast<client::DataType>(1 + Below(random, 3));
  switch (Below(random, 4)) {
    case 0: request.part = client::Part::kToken; break;
    case 1:
      if (positions > 0) request.part = client::Part::kPosition;
      break;
    default: break;
  }
  if (positions > request.sequence_length && Below(random, 2) == 0) {
    request.position_offsets = {Below(random, positions - request.sequence_length)};
  }
  if ((model == "learned" || model == "normed") && Below(random, 2) == 0) {
    for (std::size_t i = 0; i < request.ids.size(); ++i) request.token_type_ids.push_back(Below(random, 2));
  }
  if (Below(random, 3) == 0) {
    request.row_lengths.assign(static_cast<std::size_t>(request.batch_size), request.sequence_length);
    request.ragged_layout = Below(random, 2) == 0 ? client::RaggedLayout::kPacked : client::RaggedLayout::kPadded;
    if (request.ragged_layout == client::RaggedLayout::kPadded) request.sequence_length += 3;
  }
  // Stands for row 0, and is counted.
  if (model == "learned" && Below(random, 2) == 0) request.ids.front() = 1'000'000;
  return request;
}

std::string Table(int variant, bool half) {
  Random random(static_cast<std::uint64_t>(variant) + 1);
  std::vector<float> values(kFileRows * kFileDim);
  for (float& value : values) value = static_cast<float>(Below(random, 4096) - 2048) / 1024.0f;
  if (!half) return formats::Raw(values);
  std::vector<std::uint16_t> halves;
  for (const float value : values) halves.push_back(core::FloatToHalf(value));
  return formats::Raw(halves);
}

}  // namespace

Corpus::Corpus(std::string folder) : folder_(std::move(folder)) {
  std::ofstream(folder_ + "/norm.npy", std::ios::binary)
      << formats::NpyFile(formats::NpyDict("'<f4'", "(32,)"), formats::Raw(std::vector<float>(32, 0.75f)));
  Random random(4);
  for (const auto& [model, extents] : ExtentsOf()) {
    for (std::size_t i = 0; i < kCases; ++i) {
      cases_[model].push_back({i < kPlain ? PlainRequest(model, random) : AnyRequest(model, random), {}});
    }
  }
  for (int variant = kVariants - 1; variant >= 0; --variant) {
    for (const std::string& model : FileModels()) WriteTable(model, variant);
    config::ServerConfig config;
    config.models = Models(variant);
    const testing::Route engine = testing::CoreRoute(config);
    for (const config::ModelConfig& model : config.models) {
      for (Case& each : cases_[model.name]) {
        const auto tensor = engine.embed(each.request);
        if (!tensor.ok()) {
          ADD_FAILURE() << model.name << ": " << tensor.status();
          continue;
        }
        each.expected[tensor->info().checksum] = BytesOf(tensor->bytes());
      }
    }
  }
}

std::vector<config::ModelConfig> Corpus::Models(int variant) const {
  const config::SeededRows rows = {.std = 1.0, .seed = 100 + static_cast<std::uint64_t>(variant)};
  std::vector<config::ModelConfig> models = {Small("learned", 48), Small("normed", 32), Small("rotary", 64),
                                             Small("growing", 32), Small("wide", 256),  Small("configured", 40)};
  const config::TokenTypes types = {
      .source = config::SeededTokenTypes{.type_vocab_size = 2, .rows = {.std = 1.0, .seed = 5}}};
  models[0].token_types = models[1].token_types = types;
  models[0].out_of_range = config::OutOfRange{.policy = config::OutOfRange::Policy::kUnk, .unk_id = 0};
  models[1].layer_norm = config::LayerNorm{.weight = config::TableFile{.path = folder_ + "/norm.npy"}};
  models[2].position = config::RotaryPositions{.head_dim = 16};
  models[3].position = config::SinusoidalPositions{.max_context_length = 4, .grow_to = kGrowTo};
  models[5].token = config::SeededTokens{ExtentsOf().at("configured").rows, 40, rows};
  for (const std::string& name : FileModels()) {
    const auto type = name == "file" ? config::StoredType::kFloat16 : config::StoredType::kFloat32;
    config::ModelConfig model = Small(name, kFileDim);
    model.token = config::TableFile{.path = absl::StrCat(folder_, "/", name, ".bin"),
                                    .raw = config::RawLayout{.dtype = type, .rows = kFileRows, .columns = kFileDim},
                                    .mmap = name != "file"};
    model.required = name != "damaged";
    models.push_back(std::move(model));
  }
  if (variant != 1) models.push_back(Small("coming", 24));
  return models;
}

void Corpus::WriteTable(const std::string& model, int variant) const {
  static std::atomic<int> count = 0;
  const std::string next = absl::StrCat(folder_, "/next", count++);
  std::ofstream(next, std::ios::binary) << Table(variant, model == "file");
  std::filesystem::rename(next, absl::StrCat(folder_, "/", model, ".bin"));
}

void Corpus::CutShort() const { std::filesystem::resize_file(folder_ + "/damaged.bin", 8192); }

const std::vector<std::string>& Corpus::FileModels() {
  static const std::vector<std::string> names = {"file", "mapped", "damaged"};
  return names;
}

const std::vector<std::string>& Corpus::SteadyModels() {
  static const std::vector<std::string> names = {"normed", "rotary", "growing", "wide", "configured", "mapped"};
  return names;
}

const std::vector<std::string>& Corpus::FleetingModels() {
  static const std::vector<std::string> names = {"learned", "file", "coming", "damaged"};
  return names;
}

const Case& Corpus::Any(const std::string& model, Random& random) const {
  return cases_.at(model)[static_cast<std::size_t>(Below(random, kCases))];
}

const Case& Corpus::AnyPlain(const std::string& model, Random& random) const {
  return cases_.at(model)[static_cast<std::size_t>(Below(random, kPlain))];
}

}  // namespace embd::stress

#include "server/app/model_builder.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/app/file_table.h"
#include "server/app/rotary_settings.h"
#include "server/app/spell_out.h"
#include "server/architectures/infer_model.h"
#include "server/core/error.h"
#include "server/core/position/sinusoidal.h"
#include "server/core/table/seeded_table.h"
#include "server/core/tensor/float_bits.h"
#include "server/formats/load_vector.h"

namespace embd::app {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::string SeededSource(const config::SeededRows& rows) {
  return absl::StrCat("seeded: normal(mean ", rows.mean, ", std ", rows.std, "), seed ", rows.seed);
}

// Counts a float32 table that is to be computed. A shape that no table has is refused by what computes it.
absl::Status Reserve(std::int64_t rows, std::int64_t dim, TableShare* share) {
  const auto bytes = core::TableBytes(rows, dim, core::ElementType::kFloat32);
  return bytes.ok() ? share->Add(static_cast<std::int64_t>(*bytes)) : absl::OkStatus();
}

absl::StatusOr<core::ModelTable> Seeded(std::int64_t rows, std::int64_t dim, const config::SeededRows& how,
                                        core::SeedStream stream, TableShare* share) {
  if (absl::Status status = Reserve(rows, dim, share); !status.ok()) return status;
  auto table = core::SeededTable(rows, dim, how.mean, how.std, how.seed, stream);
  if (!table.ok()) return table.status();
  return core::ModelTable::Of(*std::move(table), SeededSource(how), /*trainable=*/true);
}

// The factor of token rows; sqrt(D) is rounded once, to the type that the family computes it in.
float ScaleOf(const config::TokenScale& scale, const core::Table& table) {
  const double exact = scale.sqrt_dim ? std::sqrt(static_cast<double>(table.dim())) : scale.factor;
  const auto factor = static_cast<float>(exact);
  if (!scale.weight_dtype) return factor;
  switch (table.element_type()) {
    case core::ElementType::kFloat16: return core::HalfToFloat(core::FloatToHalf(factor));
    case core::ElementType::kBFloat16: return core::BFloat16ToFloat(core::FloatToBFloat16(factor));
    case core::ElementType::kFloat32:
    case core::ElementType::kFloat64: return factor;
  }
  return factor;
}

core::Numbering ToNumbering(config::Numbering numbering) {
  switch (numbering) {
    case config::Numbering::kSequential: return core::Numbering::kSequential;
    case config::Numbering::kFixed: return core::Numbering::kFixed;
    case config::Numbering::kPadding: return core::Numbering::kPadding;
    case config::Numbering::kMask: return core::Numbering::kMask;
  }
  return core::Numbering::kSequential;
}

core::OutOfRangePolicy ToPolicy(config::OutOfRange::Policy policy) {
  switch (policy) {
    case config::OutOfRange::Policy::kError: return core::OutOfRangePolicy::kError;
    case config::OutOfRange::Policy::kZero: return core::OutOfRangePolicy::kZero;
    case config::OutOfRange::Policy::kUnk: return core::OutOfRangePolicy::kUnk;
  }
  return core::OutOfRangePolicy::kError;
}

core::SinusoidalLayout ToLayout(config::SinusoidalLayout layout) {
  switch (layout) {
    case config::SinusoidalLayout::kInterleaved: return core::SinusoidalLayout::kInterleaved;
    case config::SinusoidalLayout::kHalf: return core::SinusoidalLayout::kHalf;
    case config::SinusoidalLayout::kTensor2Tensor: return core::SinusoidalLayout::kTensor2Tensor;
  }
  return core::SinusoidalLayout::kInterleaved;
}

// Collects the parts of one model.
class Builder {
 public:
  Builder(architectures::InferredModel spelled_out, std::int64_t generation, TableShare* share)
      : inferred_(std::move(spelled_out)), config_(inferred_.model), generation_(generation), share_(share) {}

  absl::StatusOr<BuiltModel> Build() {
    auto token = Token();
    if (!token.ok()) return token.status();
    core::ModelParts parts{
        .name = config_.name, .version = config_.version, .generation = generation_, .token = *std::move(token)};
    parts.vocabulary = std::move(vocabulary_);
    parts.token_scale = ScaleOf(config_.token_scale.value_or(config::TokenScale{}), parts.token.table);
    SetIds(&parts);
    if (absl::Status status = AddPositions(&parts); !status.ok()) return status;
    if (absl::Status status = AddTokenTypes(&parts); !status.ok()) return status;
    if (absl::Status status = AddLayerNorm(&parts); !status.ok()) return status;
    if (absl::Status status = AddOutput(&parts); !status.ok()) return status;
    parts.position_before_type = config_.sum_order == config::SumOrder::kPositionFirst;
    parts.zero_masked = config_.zero_masked.value_or(false);
    parts.saturate = config_.saturate.value_or(false);
    parts.trained_context_length = config_.trained_context_length;
    parts.architecture = inferred_.architecture;
    for (const auto& [key, value, source] : inferred_.inferred_from)
      parts.inferred_from.push_back({key, core::ValidUtf8(value), core::ValidUtf8(source)});
    parts.notes = inferred_.notes;
    auto model = core::Model::Create(std::move(parts));
    if (!model.ok()) return model.status();
    return BuiltModel{*std::move(model), std::move(warnings_)};
  }

 private:
  absl::StatusOr<core::ModelTable> Token() {
    return std::visit(Overloaded{[this](const config::TableFile& file) { return FromFile(file, &vocabulary_); },
                                 [this](const config::SeededTokens& seeded) {
                                   return Seeded(seeded.vocab_size, seeded.embedding_dim, seeded.rows,
                                                 core::SeedStream::kToken, share_);
                                 }},
                      config_.token);
  }

  // Words of the file go to `vocabulary`, where that is wanted.
  absl::StatusOr<core::ModelTable> FromFile(const config::TableFile& file,
                                            std::optional<core::Vocabulary>* vocabulary) {
    auto loaded = LoadFileTable(file, share_);
    if (!loaded.ok()) return loaded.status();
    warnings_.insert(warnings_.end(), loaded->warnings.begin(), loaded->warnings.end());
    if (vocabulary != nullptr) *vocabulary = std::move(loaded->vocabulary);
    return std::move(loaded->table);
  }

  absl::Status AddPositions(core::ModelParts* parts) {
    return std::visit(
        Overloaded{[](const config::NoPositions&) { return absl::OkStatus(); },
                   [&](const config::LearnedPositions& learned) { return AddLearned(learned, parts); },
                   [&](const config::SinusoidalPositions& computed) { return AddSinusoidal(computed, parts); },
                   [&](const config::RotaryPositions& rotary) {
                     return AddRotary(rotary, parts->token.table.dim(), parts, &warnings_);
                   }},
        config_.position.value_or(config::NoPositions{}));
  }

  absl::Status AddLearned(const config::LearnedPositions& learned, core::ModelParts* parts) {
    auto table = std::visit(Overloaded{[this](const config::TableFile& file) { return FromFile(file, nullptr); },
                                       [&](const config::SeededPositions& seeded) {
                                         return Seeded(seeded.max_context_length, parts->token.table.dim(), seeded.rows,
                                                       core::SeedStream::kPosition, share_);
                                       }},
                            learned.source);
    if (!table.ok()) return table.status();
    parts->position_encoding = core::PositionEncoding::kLearned;
    parts->position = *std::move(table);
    return absl::OkStatus();
  }

  absl::Status AddSinusoidal(const config::SinusoidalPositions& computed, core::ModelParts* parts) {
    const std::int64_t rows = computed.max_context_length.value_or(0);
    const std::int64_t dim = parts->token.table.dim();
    const std::int64_t end_row = std::max(rows, computed.grow_to.value_or(rows));
    core::SinusoidalFormula formula;
    formula.base = computed.base.value_or(formula.base);
    formula.layout = ToLayout(computed.layout.value_or(config::SinusoidalLayout::kInterleaved));
    if (formula.layout == core::SinusoidalLayout::kTensor2Tensor) formula.padding_row = parts->padding_idx;
    if (absl::Status status = Reserve(end_row, dim, share_); !status.ok()) return status;
    auto table = core::SinusoidalTable(rows, dim, formula);
    if (!table.ok()) return table.status();
    if (end_row > rows) {
      auto formula_rows = core::SinusoidalRows::Create(end_row, dim, formula);
      if (!formula_rows.ok()) return formula_rows.status();
      auto growth = core::GrowingRows::Create(rows, end_row, *std::move(formula_rows));
      if (!growth.ok()) return growth.status();
      parts->growth = *std::move(growth);
    }
    parts->position_encoding = core::PositionEncoding::kSinusoidal;
    parts->sinusoidal = formula;
    parts->position = core::ModelTable::Of(
        *std::move(table),
        absl::StrCat("sinusoidal: ", core::SinusoidalLayoutName(formula.layout), ", base ", formula.base),
        /*trainable=*/false);
    return absl::OkStatus();
  }

  void SetIds(core::ModelParts* parts) const {
    const config::OutOfRange out_of_range = config_.out_of_range.value_or(config::OutOfRange{});
    parts->out_of_range = ToPolicy(out_of_range.policy);
    parts->unk_id = out_of_range.unk_id;
    parts->dropout_mask_id = config_.dropout_mask_id;
    parts->padding_idx = config_.padding_idx;
    parts->numbering = ToNumbering(config_.numbering.value_or(config::Numbering::kSequential));
    parts->row_offset = config_.row_offset.value_or(0);
  }

  absl::Status AddTokenTypes(core::ModelParts* parts) {
    if (!config_.token_types.has_value()) return absl::OkStatus();
    const auto* const types = std::get_if<config::TokenTypes>(&*config_.token_types);
    if (types == nullptr) return absl::OkStatus();
    parts->token_types = core::TokenTypes{.only_when_sent = types->only_when_sent};
    if (std::holds_alternative<config::SharedTokenTypes>(types->source)) return absl::OkStatus();
    const auto* const file = std::get_if<config::TableFile>(&types->source);
    auto table = file != nullptr ? FromFile(*file, nullptr)
                                 : SeededTypes(std::get<config::SeededTokenTypes>(types->source), *parts);
    if (!table.ok()) return table.status();
    parts->token_types->table = *std::move(table);
    return absl::OkStatus();
  }

  absl::StatusOr<core::ModelTable> SeededTypes(const config::SeededTokenTypes& seeded, const core::ModelParts& parts) {
    return Seeded(seeded.type_vocab_size, parts.token.table.dim(), seeded.rows, core::SeedStream::kTokenType, share_);
  }

  absl::Status AddLayerNorm(core::ModelParts* parts) {
    if (!config_.layer_norm.has_value()) return absl::OkStatus();
    const auto* const norm = std::get_if<config::LayerNorm>(&*config_.layer_norm);
    if (norm == nullptr) return absl::OkStatus();
    auto weight = formats::LoadVector(norm->weight->path, norm->weight->tensor);
    if (!weight.ok()) return weight.status();
    std::vector<float> bias(weight->size());
    if (norm->bias.has_value()) {
      auto loaded = formats::LoadVector(norm->bias->path, norm->bias->tensor);
      if (!loaded.ok()) return loaded.status();
      bias = *std::move(loaded);
    }
    core::ModelLayerNorm& layer_norm = parts->layer_norm.emplace();
    layer_norm.parameters.weight = *std::move(weight);
    layer_norm.parameters.bias = std::move(bias);
    layer_norm.parameters.eps = norm->eps.value_or(layer_norm.parameters.eps);
    layer_norm.source = norm->weight->path;
    return absl::OkStatus();
  }

  absl::Status AddOutput(core::ModelParts* parts) {
    const config::Output& output = config_.output;
    parts->output.tied = output.tied.value_or(parts->output.tied);
    parts->output.scale = output.scale.value_or(parts->output.scale);
    if (output.softcap.has_value()) {
      if (const auto* const softcap = std::get_if<double>(&*output.softcap)) parts->output.softcap = *softcap;
    }
    const auto* const file = output.bias.has_value() ? std::get_if<config::TableFile>(&*output.bias) : nullptr;
    if (file == nullptr) return absl::OkStatus();
    auto bias = formats::LoadVector(file->path, file->tensor);
    if (!bias.ok()) return bias.status();
    parts->output.bias = *std::move(bias);
    return absl::OkStatus();
  }

  const architectures::InferredModel inferred_;
  const config::ModelConfig& config_;  // of inferred_
  const std::int64_t generation_;
  TableShare* const share_;
  std::optional<core::Vocabulary> vocabulary_;
  std::vector<std::string> warnings_;
};

// A model and what its tables count: they go before their share is given back.
struct CountedModel {
  TableShare share;
  std::shared_ptr<const core::Model> model;
};

absl::StatusOr<BuiltModel> Build(const config::ModelConfig& config, TableBudget* budget, std::int64_t generation) {
  auto spelled_out = SpellOut(config);
  if (!spelled_out.ok()) return spelled_out.status();
  TableShare share = budget->Open();
  auto built = Builder(*std::move(spelled_out), generation, &share).Build();
  if (!built.ok()) return built.status();
  const auto counted = std::make_shared<CountedModel>(CountedModel{std::move(share), std::move(built->model)});
  built->model = std::shared_ptr<const core::Model>(counted, counted->model.get());
  return built;
}

// The standard library throws for want of memory.
absl::StatusOr<BuiltModel> BuildWithinMemory(const config::ModelConfig& config, TableBudget* budget,
                                             std::int64_t generation) {
  const auto error = [] {
    return core::Error(absl::StatusCode::kResourceExhausted, "OUT_OF_MEMORY", "not enough memory");
  };
  try {
    return Build(config, budget, generation);
  } catch (const std::bad_alloc&) {
    return error();
  } catch (const std::length_error&) {
    return error();
  }
}

}  // namespace

absl::StatusOr<BuiltModel> BuildModel(const config::ModelConfig& config, TableBudget* budget, std::int64_t generation) {
  auto built = BuildWithinMemory(config, budget, generation);
  if (built.ok()) return built;
  const std::string prefix = absl::StrCat("model ", core::Quote(config.name), ": ");
  const bool named = absl::StartsWith(built.status().message(), prefix);
  return core::Error(built.status().code(), core::ErrorReason(built.status()),
                     named ? std::string(built.status().message()) : absl::StrCat(prefix, built.status().message()));
}

}  // namespace embd::app

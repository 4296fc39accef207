#include "server/app/model_builder.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/app/rotary_settings.h"
#include "server/core/error.h"
#include "server/core/position/sinusoidal.h"
#include "server/core/table/seeded_table.h"
#include "server/formats/load_table.h"

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
absl::Status Reserve(std::int64_t rows, std::int64_t dim, TableBudget* budget) {
  const auto bytes = core::TableBytes(rows, dim, core::ElementType::kFloat32);
  return bytes.ok() ? budget->Add(static_cast<std::int64_t>(*bytes)) : absl::OkStatus();
}

absl::StatusOr<core::ModelTable> Seeded(std::int64_t rows, std::int64_t dim, const config::SeededRows& how,
                                        core::SeedStream stream, TableBudget* budget) {
  if (absl::Status status = Reserve(rows, dim, budget); !status.ok()) return status;
  auto table = core::SeededTable(rows, dim, how.mean, how.std, how.seed, stream);
  if (!table.ok()) return table.status();
  return core::ModelTable::Of(*std::move(table), SeededSource(how), /*trainable=*/true);
}

// Collects the parts of one model.
class Builder {
 public:
  Builder(const config::ModelConfig& config, TableBudget* budget) : config_(config), budget_(budget) {}

  absl::StatusOr<BuiltModel> Build() {
    auto token = Token();
    if (!token.ok()) return token.status();
    core::ModelParts parts{.name = config_.name, .version = config_.version, .token = *std::move(token)};
    parts.vocabulary = std::move(vocabulary_);
    if (absl::Status status = AddPositions(&parts); !status.ok()) return status;
    auto model = core::Model::Create(std::move(parts));
    if (!model.ok()) return model.status();
    return BuiltModel{*std::move(model), std::move(warnings_)};
  }

 private:
  absl::StatusOr<core::ModelTable> Token() {
    return std::visit(Overloaded{[this](const config::TableFile& file) { return FromFile(file, &vocabulary_); },
                                 [this](const config::SeededTokens& seeded) {
                                   return Seeded(seeded.vocab_size, seeded.embedding_dim, seeded.rows,
                                                 core::SeedStream::kToken, budget_);
                                 }},
                      config_.token);
  }

  // Words of the file go to `vocabulary`, where that is wanted.
  absl::StatusOr<core::ModelTable> FromFile(const config::TableFile& file,
                                            std::optional<core::Vocabulary>* vocabulary) {
    auto loaded = formats::LoadTable(
        {.path = file.path, .tensor = file.tensor, .vocabulary = file.vocabulary, .reserve = [this](std::size_t bytes) {
           return budget_->Add(static_cast<std::int64_t>(bytes));
         }});
    if (!loaded.ok()) return loaded.status();
    warnings_.insert(warnings_.end(), loaded->warnings.begin(), loaded->warnings.end());
    if (vocabulary != nullptr) *vocabulary = std::move(loaded->vocabulary);
    return core::ModelTable::Of(std::move(loaded->table), file.path, /*trainable=*/true);
  }

  absl::Status AddPositions(core::ModelParts* parts) {
    return std::visit(
        Overloaded{[](const config::NoPositions&) { return absl::OkStatus(); },
                   [&](const config::LearnedPositions& learned) { return AddLearned(learned, parts); },
                   [&](const config::SinusoidalPositions& computed) { return AddSinusoidal(computed, parts); },
                   [&](const config::RotaryPositions& rotary) {
                     return AddRotary(rotary, parts->token.table.dim(), parts, &warnings_);
                   }},
        config_.position);
  }

  absl::Status AddLearned(const config::LearnedPositions& learned, core::ModelParts* parts) {
    auto table = std::visit(Overloaded{[this](const config::TableFile& file) { return FromFile(file, nullptr); },
                                       [&](const config::SeededPositions& seeded) {
                                         return Seeded(seeded.max_context_length, parts->token.table.dim(), seeded.rows,
                                                       core::SeedStream::kPosition, budget_);
                                       }},
                            learned.source);
    if (!table.ok()) return table.status();
    parts->position_encoding = core::PositionEncoding::kLearned;
    parts->position = *std::move(table);
    return absl::OkStatus();
  }

  absl::Status AddSinusoidal(const config::SinusoidalPositions& computed, core::ModelParts* parts) {
    if (absl::Status status = Reserve(computed.max_context_length, parts->token.table.dim(), budget_); !status.ok()) {
      return status;
    }
    auto table = core::SinusoidalTable(computed.max_context_length, parts->token.table.dim(), computed.base);
    if (!table.ok()) return table.status();
    parts->position_encoding = core::PositionEncoding::kSinusoidal;
    parts->sinusoidal_base = computed.base;
    parts->position =
        core::ModelTable::Of(*std::move(table), absl::StrCat("sinusoidal: interleaved, base ", computed.base),
                             /*trainable=*/false);
    return absl::OkStatus();
  }

  const config::ModelConfig& config_;
  TableBudget* const budget_;
  std::optional<core::Vocabulary> vocabulary_;
  std::vector<std::string> warnings_;
};

}  // namespace

absl::StatusOr<BuiltModel> BuildModel(const config::ModelConfig& config, TableBudget* budget) {
  auto built = Builder(config, budget).Build();
  if (built.ok()) return built;
  const std::string prefix = absl::StrCat("model ", core::Quote(config.name), ": ");
  const bool named = absl::StartsWith(built.status().message(), prefix);
  return core::Error(built.status().code(), core::ErrorReason(built.status()),
                     named ? std::string(built.status().message()) : absl::StrCat(prefix, built.status().message()));
}

}  // namespace embd::app

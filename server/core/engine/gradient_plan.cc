#include "server/core/engine/gradient_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"
#include "server/core/kernels/layer_norm.h"
#include "server/core/tensor/aligned_buffer.h"
#include "server/core/tensor/checked_math.h"

namespace embd::core {
namespace {

constexpr TableRole kRoles[] = {TableRole::kToken, TableRole::kPosition, TableRole::kTokenType};
constexpr std::int64_t kPieceElements = std::int64_t{1} << 16;  // that one thread works on at a time
constexpr std::int64_t kNumberBytes = 26;                       // of a row's id, count and norm in a reply, at most

bool PartReads(Part part, TableRole role) {
  switch (role) {
    case TableRole::kToken: return part != Part::kPosition;
    case TableRole::kPosition: return part != Part::kToken;
    case TableRole::kTokenType: break;
  }
  return part == Part::kComposed;
}

absl::string_view PartName(Part part) {
  if (part == Part::kComposed) return "COMPOSED";
  return part == Part::kToken ? "TOKEN" : "POSITION";
}

// Types that share the token table have none of their own.
const ModelTable* TableIn(const Model& model, TableRole role) {
  switch (role) {
    case TableRole::kToken: return &model.token();
    case TableRole::kPosition: return model.position();
    case TableRole::kTokenType: break;
  }
  const auto& types = model.token_types();
  return types.has_value() && types->table.has_value() ? &*types->table : nullptr;
}

absl::Status CheckTables(const Model& model, const GradientInput& input) {
  const Part part = input.batch.part;
  for (std::size_t i = 0; i < input.tables.size(); ++i) {
    const TableRole role = input.tables[i];
    const std::string named = absl::StrCat("tables[", i, "] = ", TableRoleName(role));
    if (std::count(input.tables.begin(), input.tables.end(), role) > 1) {
      return InvalidArgument("INVALID_OPTION", absl::StrCat(named, " is asked for more than once"));
    }
    if (!PartReads(part, role)) {
      return InvalidArgument("INVALID_OPTION", absl::StrCat(named, " is not read by part ", PartName(part)));
    }
    if (TableIn(model, role) != nullptr) continue;
    const bool shared = role == TableRole::kTokenType && model.token_type_table() != nullptr;
    return Error(absl::StatusCode::kFailedPrecondition, "NO_SUCH_TABLE",
                 absl::StrCat(named, ": model ", Quote(model.name()),
                              shared ? " adds rows of its token table by type; ask for TOKEN" : " has no such table"));
  }
  return absl::OkStatus();
}

std::vector<TableRole> TablesRead(const Model& model, const EmbedInput& batch) {
  std::vector<TableRole> roles;
  for (const TableRole role : kRoles) {
    if (!PartReads(batch.part, role) || TableIn(model, role) == nullptr) continue;
    const bool unsent = role == TableRole::kTokenType && model.token_types()->only_when_sent;
    if (!unsent || !batch.token_type_ids.empty()) roles.push_back(role);
  }
  return roles;
}

absl::Status CheckGradient(const GradientInput& input, const EmbedPlan& batch) {
  const auto describe = [](const std::vector<std::int64_t>& shape) {
    return absl::StrCat("(", absl::StrJoin(shape, ", "), ")");
  };
  const std::vector<std::int64_t> expected = batch.output_shape();
  if (input.gradient_shape != expected) {
    return InvalidArgument("INVALID_SHAPE", absl::StrCat("output_gradient has shape ", describe(input.gradient_shape),
                                                         ", but that of the output is ", describe(expected)));
  }
  if (input.gradient_bytes == batch.byte_size()) return absl::OkStatus();
  return InvalidArgument("INVALID_SHAPE", absl::StrCat("output_gradient has ", input.gradient_bytes, " bytes, but ",
                                                       describe(expected), " FLOAT32 needs ", batch.byte_size()));
}

// The row of the table in that role whose look-ups torch.nn.Embedding gives no gradient.
std::optional<std::int64_t> RowWithoutGradient(const Model& model, TableRole role) {
  if (role == TableRole::kToken) return model.padding_idx();
  if (role == TableRole::kPosition && model.numbering() == Numbering::kPadding) {
    return *model.padding_idx() + model.row_offset();
  }
  return std::nullopt;
}

void AddMentions(const EmbedPlan& batch, TableRole role, std::optional<std::int64_t> left_out,
                 std::vector<Mention>* mentions) {
  const std::vector<std::int64_t> rows = batch.AddedRows(role);
  for (std::size_t cell = 0; cell < rows.size(); ++cell) {
    if (rows[cell] == EmbedPlan::kNoRow || rows[cell] == left_out) continue;
    mentions->push_back(
        {.row = rows[cell], .cell = static_cast<std::uint32_t>(cell), .scaled = role == TableRole::kToken});
  }
}

TableGradient FindRows(const EmbedPlan& batch, TableRole role) {
  const Model& model = batch.model();
  const ModelTable& table = *TableIn(model, role);
  TableGradient gradient = {.role = role, .table = &table.table, .trainable = table.trainable};
  std::vector<Mention> mentions;
  if (table.trainable) {
    const std::optional<std::int64_t> left_out = RowWithoutGradient(model, role);
    AddMentions(batch, role, left_out, &mentions);
    const bool shares_types = role == TableRole::kToken && TableIn(model, TableRole::kTokenType) == nullptr;
    if (shares_types) AddMentions(batch, TableRole::kTokenType, left_out, &mentions);
  }
  gradient.mentions = RowMentions(std::move(mentions));
  return gradient;
}

// Overflows nothing: rows are no more than cells, each of which came with a vector.
std::int64_t BytesOf(const std::vector<TableGradient>& tables) {
  std::int64_t bytes = 0;
  for (const TableGradient& table : tables) {
    const auto rows = static_cast<std::int64_t>(table.mentions.rows().size());
    bytes += rows * (table.table->dim() * static_cast<std::int64_t>(sizeof(float)) + kNumberBytes);
  }
  return bytes;
}

// sum += vector / divisor * scale
void AddScaled(const float* vector, EmbedPlan::TokenFactors factors, std::span<float> sum) {
  if (factors.divisor == 1.0f) {
    for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += vector[d] * factors.scale;
  } else {
    for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += vector[d] / factors.divisor * factors.scale;
  }
}

double NormOf(std::span<const float> row) {
  constexpr std::size_t kSums = 8;
  double sums[kSums] = {};
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto value = static_cast<double>(row[i]);
    sums[i % kSums] += value * value;
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

// Calls `work(first, count)` for ranges that make up `total` rows of `dim` elements.
absl::Status ShareRows(std::int64_t total, std::int64_t dim, ShareOut share,
                       absl::FunctionRef<void(std::int64_t, std::int64_t)> work) {
  const std::int64_t rows = std::max<std::int64_t>(1, kPieceElements / dim);
  return share((total + rows - 1) / rows,
               [&](std::int64_t piece) { work(piece * rows, std::min(rows, total - piece * rows)); });
}

}  // namespace

absl::string_view TableRoleName(TableRole role) {
  switch (role) {
    case TableRole::kToken: return "TOKEN";
    case TableRole::kPosition: return "POSITION";
    case TableRole::kTokenType: break;
  }
  return "TOKEN_TYPE";
}

absl::StatusOr<GradientPlan> GradientPlan::Create(std::shared_ptr<const Model> model, GradientInput input,
                                                  const EmbedLimits& limits) {
  if (absl::Status status = CheckTables(*model, input); !status.ok()) return status;
  input.batch.packed = !input.batch.row_lengths.empty();
  input.batch.output_type = ElementType::kFloat32;
  input.batch.layer_norm = false;
  input.batch.counts_out_of_range = false;  // they were, when the batch was embedded
  const std::vector<TableRole> roles = input.tables.empty() ? TablesRead(*model, input.batch) : input.tables;
  EmbedLimits of_batch = limits;  // its vectors are no reply
  of_batch.max_response_bytes = std::numeric_limits<std::int64_t>::max();
  auto batch = EmbedPlan::Create(std::move(model), std::move(input.batch), of_batch);
  if (!batch.ok()) return batch.status();
  if (absl::Status status = CheckGradient(input, *batch); !status.ok()) return status;
  std::vector<TableGradient> tables;
  for (const TableRole role : roles) tables.push_back(FindRows(*batch, role));
  GradientPlan plan(*std::move(batch), std::move(tables));
  if (plan.result_bytes() > limits.max_response_bytes) {
    return Error(absl::StatusCode::kResourceExhausted, "RESPONSE_TOO_LARGE",
                 absl::StrCat("the gradients' rows need up to ", plan.result_bytes(),
                              " bytes, which exceeds max_response_bytes ", limits.max_response_bytes,
                              " of this server; ask for fewer tables or cells a call"));
  }
  return plan;
}

GradientPlan::GradientPlan(EmbedPlan batch, std::vector<TableGradient> tables)
    : batch_(std::move(batch)), tables_(std::move(tables)), result_bytes_(BytesOf(tables_)) {}

std::size_t GradientPlan::working_bytes() const {
  const bool normalised = batch_.part() == Part::kComposed && model().layer_norm().has_value();
  return normalised && result_bytes_ > 0 ? batch_.byte_size() : 0;
}

absl::Status GradientPlan::GoBackThroughLayerNorm(std::span<const float> output_gradient, float* sums,
                                                  ShareOut share) const {
  const LayerNormParameters& norm = model().layer_norm()->parameters;
  const std::int64_t dim = model().embedding_dim();
  return ShareRows(batch_.row_count(), dim, share, [&](std::int64_t first, std::int64_t count) {
    float* const rows = sums + first * dim;
    const std::span<float> out(rows, static_cast<std::size_t>(count * dim));
    batch_.Compose(first, count, std::as_writable_bytes(out));
    LayerNormBackwardRows(norm, static_cast<std::size_t>(count), output_gradient.data() + first * dim, rows);
  });
}

void GradientPlan::AddUpRow(const TableGradient& table, std::size_t row, const float* gradient,
                            std::span<float> sum) const {
  std::fill(sum.begin(), sum.end(), 0.0f);
  for (const Mention& mention : table.mentions.of(row)) {
    const EmbedPlan::TokenFactors factors =
        mention.scaled ? batch_.TokenFactorsOf(mention.cell) : EmbedPlan::TokenFactors{1.0f, 1.0f};
    AddScaled(gradient + std::size_t{mention.cell} * sum.size(), factors, sum);
  }
}

absl::Status GradientPlan::AddUp(const TableGradient& table, const float* gradient, const Destination& destination,
                                 ShareOut share) const {
  const auto dim = static_cast<std::size_t>(model().embedding_dim());
  const auto rows = static_cast<std::int64_t>(table.mentions.rows().size());
  return ShareRows(rows, model().embedding_dim(), share, [&](std::int64_t first, std::int64_t count) {
    for (auto row = static_cast<std::size_t>(first); row < static_cast<std::size_t>(first + count); ++row) {
      const std::span<float> sum = destination.rows.subspan(row * dim, dim);
      AddUpRow(table, row, gradient, sum);
      destination.norms[row] = NormOf(sum);
    }
  });
}

absl::Status GradientPlan::Run(std::span<const float> output_gradient, std::span<const Destination> destinations,
                               ShareOut share) const {
  const float* gradient = output_gradient.data();
  AlignedBuffer sums;
  if (working_bytes() > 0) {
    auto allocated = AlignedBuffer::Allocate(working_bytes());
    if (!allocated.ok()) return allocated.status();
    sums = *std::move(allocated);
    auto* const rows = reinterpret_cast<float*>(sums.data());
    if (absl::Status status = GoBackThroughLayerNorm(output_gradient, rows, share); !status.ok()) return status;
    gradient = rows;
  }
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (absl::Status status = AddUp(tables_[i], gradient, destinations[i], share); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace embd::core

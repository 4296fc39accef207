#include "server/architectures/draft.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::architectures {
namespace {

// Tables that the libraries let grow do so up to the longest sequence that servers take unless told otherwise.
constexpr std::int64_t kGrowTo = std::int64_t{1} << 20;

absl::string_view LayoutName(config::SinusoidalLayout layout) {
  switch (layout) {
    case config::SinusoidalLayout::kInterleaved: return "interleaved";
    case config::SinusoidalLayout::kHalf: return "half";
    case config::SinusoidalLayout::kTensor2Tensor: break;
  }
  return "tensor2tensor";
}

absl::string_view NumberingName(config::Numbering numbering) {
  switch (numbering) {
    case config::Numbering::kSequential: return "sequential";
    case config::Numbering::kFixed: return "fixed";
    case config::Numbering::kPadding: return "padding";
    case config::Numbering::kMask: break;
  }
  return "mask";
}

// The file that is given for a table, or an empty one where nothing is said or something else than a file.
template <typename Variant>
config::TableFile GivenFile(const Variant& source) {
  const auto* file = std::get_if<config::TableFile>(&source);
  return file == nullptr ? config::TableFile{} : *file;
}

}  // namespace

Draft::Draft(const config::ModelConfig& given, std::string model_type, const Settings& settings,
             const formats::Checkpoint& checkpoint, Fault* fault)
    : given_(given),
      model_type_(std::move(model_type)),
      architecture_(absl::StrCat("model_type ", model_type_)),
      settings_(settings),
      checkpoint_(checkpoint),
      fault_(fault) {}

void Draft::Refuse(absl::string_view message) {
  fault_->Report(core::Error(absl::StatusCode::kUnimplemented, "UNSUPPORTED_ARCHITECTURE", message));
}

void Draft::RefuseFile(absl::string_view message) { fault_->Report(core::InvalidArgument("INVALID_FILE", message)); }

std::optional<config::Side> Draft::AskSide() {
  has_sides_ = true;
  return given_.side;
}

config::Side Draft::NeedSide() {
  const auto side = AskSide();
  if (!side.has_value()) {
    fault_->Report(core::InvalidArgument("SIDE_NEEDED",
                                         absl::StrCat("the tables of encoder and decoder differ with ", architecture_,
                                                      "; say which are meant: side: encoder, or side: decoder")));
  }
  return side.value_or(config::Side::kEncoder);
}

std::optional<ChosenTensor> Draft::Choose(const config::TableFile& given, const Names& names, absl::string_view what,
                                          absl::string_view key) {
  auto chosen = given.tensor.empty() ? ChooseTensor(checkpoint_, names, what, absl::StrCat(key, ".tensor"))
                                     : NamedTensor(checkpoint_, given.tensor);
  if (chosen.ok()) return *std::move(chosen);
  fault_->Report(chosen.status());
  return std::nullopt;
}

void Draft::CheckRank(const ChosenTensor& tensor, std::size_t rank, absl::string_view what) {
  if (tensor.shape.size() == rank) return;
  RefuseFile(absl::StrCat(what, " ", core::Quote(tensor.name), " has shape ", ShapeText(tensor.shape), "; ", rank,
                          rank == 1 ? " dimension is" : " dimensions are", " needed"));
}

void Draft::CheckShape(const ChosenTensor& table, const StatedShape& stated, std::int64_t extra_rows,
                       absl::string_view what, absl::string_view key) {
  if (table.shape.size() != 2) return CheckRank(table, 2, what);
  const auto check = [&](const std::optional<Sourced<std::int64_t>>& said, std::int64_t extra, std::int64_t is,
                         absl::string_view noun) {
    if (!said.has_value() || said->value == is - extra) return;
    const std::string plus = extra == 0 ? "" : absl::StrCat(" and ", extra, " more");
    RefuseFile(absl::StrCat(said->source, plus, ", but ", what, " ", core::Quote(table.name), " has ", is, " ", noun,
                            "; to take the tensor as it is, name it as ", key, ".tensor"));
  };
  check(stated.rows, extra_rows, table.shape[0], "rows");
  check(stated.columns, 0, table.shape[1], "columns");
  if (width_ == 0 || table.shape[1] == width_) return;
  RefuseFile(absl::StrCat("token rows have ", width_, " columns, but ", what, " ", core::Quote(table.name), " has ",
                          table.shape[1]));
}

config::TableFile Draft::Use(const ChosenTensor& tensor, absl::string_view key, const config::TableFile& given) {
  found_.Add(absl::StrCat(key, ".file"), tensor.path, absl::StrCat("holds ", core::Quote(tensor.name)));
  if (given.tensor.empty()) found_.Add(absl::StrCat(key, ".tensor"), tensor.name, architecture_);
  config::TableFile file = given;
  file.path = tensor.path;
  file.tensor = tensor.name;
  return file;
}

void Draft::Token(const Names& names, const StatedShape& stated, bool tied) {
  const auto* const seeded = std::get_if<config::SeededTokens>(&given_.token);
  const config::TableFile file = GivenFile(given_.token);
  model_.token = given_.token;
  if (seeded != nullptr) width_ = seeded->embedding_dim;
  if (seeded != nullptr || !file.path.empty()) return;
  Names candidates = names;
  bool any = false;
  for (const std::string& name : names) any = any || checkpoint_.Has(name);
  if (!any && tied) candidates.emplace_back("lm_head.weight");
  const auto chosen = Choose(file, candidates, "token table", "token");
  if (!chosen.has_value()) return;
  CheckShape(*chosen, file.tensor.empty() ? stated : StatedShape{}, 0, "token table", "token");
  if (!fault_->ok()) return;
  vocab_size_ = chosen->shape[0];
  width_ = chosen->shape[1];
  token_tensor_ = chosen->name;
  model_.token = Use(*chosen, "token", file);
}

void Draft::ScaleBySqrtDim(bool weight_dtype, absl::string_view source) {
  if (given_.token_scale.has_value()) return;
  model_.token_scale = config::TokenScale{.sqrt_dim = true, .weight_dtype = weight_dtype};
  found_.Add("token.scale", "sqrt_dim", source);
  found_.Add("token.scale_rounding", weight_dtype ? "weight_dtype" : "float32", architecture_);
}

void Draft::ScaleBy(const Sourced<double>& factor) {
  if (given_.token_scale.has_value()) return;
  model_.token_scale = config::TokenScale{.factor = factor.value};
  found_.Add("token.scale", factor.value, factor.source);
}

void Draft::Padding(std::optional<std::int64_t> fallback, bool numbers_positions) {
  if (given_.padding_idx.has_value()) return;
  constexpr absl::string_view kKey = "pad_token_id";
  const auto stated = settings_.Integer(kKey, std::numeric_limits<std::int64_t>::min());
  std::optional<Sourced<std::int64_t>> id = stated;
  if (!stated.has_value() && fallback.has_value() && !settings_.IsNull(kKey)) id = {*fallback, kClassDefault};
  if (!id.has_value()) {
    if (numbers_positions)
      RefuseFile("config.json: pad_token_id is missing; positions are numbered by it: say padding_idx");
    return;
  }
  if (id->value < 0 || (vocab_size_ > 0 && id->value >= vocab_size_)) {
    const std::string fact = absl::StrCat(id->source, " (pad_token_id) is outside [0, ", vocab_size_, ")");
    if (numbers_positions) return RefuseFile(absl::StrCat(fact, ", and positions are numbered by it: say padding_idx"));
    return Note(absl::StrCat(fact, ": there is no padding id"));
  }
  model_.padding_idx = id->value;
  found_.Add("padding_idx", id->value, id->source);
}

void Draft::PaddingIs(std::int64_t id) {
  model_.padding_idx = id;
  found_.Add("padding_idx", id, architecture_);
}

void Draft::Learned(const Names& names, const std::optional<Sourced<std::int64_t>>& positions,
                    std::int64_t extra_rows) {
  config::TableFile file;
  if (given_.position.has_value()) {
    const auto* const given = std::get_if<config::LearnedPositions>(&*given_.position);
    const bool is_file = given != nullptr && std::holds_alternative<config::TableFile>(given->source);
    if (!is_file) return;
    file = GivenFile(given->source);
    if (!file.path.empty()) return;
  }
  const auto chosen = Choose(file, names, "position table", "position.learned");
  if (!chosen.has_value()) return;
  const bool named = !file.tensor.empty();
  CheckShape(*chosen, {named ? std::nullopt : positions, std::nullopt}, extra_rows, "position table",
             "position.learned");
  if (!fault_->ok()) return;
  position_rows_ = chosen->shape[0];
  model_.position = config::LearnedPositions{Use(*chosen, "position.learned", file)};
}

void Draft::Sinusoidal(config::SinusoidalLayout layout, const Sourced<std::int64_t>& positions, std::int64_t extra_rows,
                       bool grows) {
  if (GivenPositionIsNo<config::SinusoidalPositions>()) return;
  constexpr std::int64_t kMostRows = std::int64_t{1} << 40;  // past any memory, and far from where sums overflow
  const std::int64_t rows = std::min(positions.value, kMostRows) + extra_rows;
  config::SinusoidalPositions computed{.max_context_length = rows, .base = 10000.0, .layout = layout};
  found_.Add("position.sinusoidal.layout", LayoutName(layout), architecture_);
  found_.Add("position.sinusoidal.max_context_length", rows,
             extra_rows == 0 ? positions.source : absl::StrCat(positions.source, " and ", extra_rows, " more"));
  found_.Add("position.sinusoidal.base", 10000.0, architecture_);
  if (grows && rows < kGrowTo) {
    computed.grow_to = kGrowTo;
    found_.Add("position.sinusoidal.grow_to", kGrowTo, architecture_);
  }
  model_.position = computed;
  Trained(positions);
}

void Draft::Rotary(const config::RotaryPositions& rotary) { model_.position = rotary; }

void Draft::NoPosition(absl::string_view source) {
  model_.position = config::NoPositions{};
  found_.Add("position", "none", source);
}

void Draft::Numbered(config::Numbering numbering, std::int64_t row_offset) {
  model_.numbering = numbering;
  model_.row_offset = row_offset;
  found_.Add("position.numbering", NumberingName(numbering), architecture_);
  found_.Add("position.row_offset", row_offset, architecture_);
}

void Draft::TokenTypes(const Names& names, const std::optional<Sourced<std::int64_t>>& count) {
  config::TableFile file;
  if (given_.token_types.has_value()) {
    const auto* const types = std::get_if<config::TokenTypes>(&*given_.token_types);
    const bool is_file = types != nullptr && std::holds_alternative<config::TableFile>(types->source);
    if (!is_file) return;
    file = GivenFile(types->source);
    if (!file.path.empty()) return;
  }
  const auto chosen = Choose(file, names, "token type table", "token_type");
  if (!chosen.has_value()) return;
  const bool named = !file.tensor.empty();
  CheckShape(*chosen, {named ? std::nullopt : count, std::nullopt}, 0, "token type table", "token_type");
  model_.token_types = config::TokenTypes{.source = Use(*chosen, "token_type", file), .only_when_sent = false};
  found_.Add("token_type.only_when_sent", "false", architecture_);
}

void Draft::SharedTokenTypes() {
  const auto* const given =
      given_.token_types.has_value() ? std::get_if<config::TokenTypes>(&*given_.token_types) : nullptr;
  const auto* const file = given == nullptr ? nullptr : std::get_if<config::TableFile>(&given->source);
  const bool says_source = file == nullptr || !file->path.empty() || !file->tensor.empty();
  if (given_.token_types.has_value() && says_source) return;
  model_.token_types = config::TokenTypes{.source = config::SharedTokenTypes{}, .only_when_sent = true};
  found_.Add("token_type.shared", "true", architecture_);
  found_.Add("token_type.only_when_sent", "true", architecture_);
}

void Draft::Norm(const Names& weights, const std::optional<Names>& biases, const Sourced<double>& eps) {
  const auto* const given =
      given_.layer_norm.has_value() ? std::get_if<config::LayerNorm>(&*given_.layer_norm) : nullptr;
  if (given_.layer_norm.has_value() && given == nullptr) return;
  config::LayerNorm norm{.weight = std::nullopt, .bias = std::nullopt, .eps = eps.value};
  found_.Add("layer_norm.eps", eps.value, eps.source);
  if (given == nullptr || !given->weight.has_value()) {
    const auto weight = Choose({}, weights, "LayerNorm weight", "layer_norm.weight");
    if (!weight.has_value()) return;
    CheckRank(*weight, 1, "LayerNorm weight");
    norm.weight = Use(*weight, "layer_norm.weight");
    if (biases.has_value()) {
      const auto bias = Choose({}, *biases, "LayerNorm bias", "layer_norm.bias");
      if (!bias.has_value()) return;
      CheckRank(*bias, 1, "LayerNorm bias");
      norm.bias = Use(*bias, "layer_norm.bias");
    }
  }
  model_.layer_norm = norm;
}

void Draft::Order(config::SumOrder order) {
  model_.sum_order = order;
  found_.Add("sum_order", order == config::SumOrder::kTypeFirst ? "type_first" : "position_first", architecture_);
}

void Draft::ZeroMasked() {
  model_.zero_masked = true;
  found_.Add("zero_masked", "true", architecture_);
}

void Draft::Trained(const Sourced<std::int64_t>& length) {
  model_.trained_context_length = length.value;
  found_.Add("trained_context_length", length.value, length.source);
}

}  // namespace embd::architectures

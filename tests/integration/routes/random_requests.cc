#include "tests/integration/routes/random_requests.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "proto/wire/data_type.h"
#include "tests/integration/routes/random_elements.h"

namespace embd::testing {
namespace {

constexpr std::int64_t kAnyPosition = std::int64_t{1} << 62;  // what positions stay below where no table is looked at

using Cells = google::protobuf::RepeatedField<std::int64_t>;

// Draws one request, part by part.
class Drawing {
 public:
  Drawing(Draw& draw, const RandomModel& model) : draw_(draw), model_(model) {}

  RandomRequest Make() {
    message_.set_model(model_.name);
    if (draw_.Chance(0.2)) message_.set_model_version("1");
    message_.set_output_type(
        draw_.Of({v1::DATA_TYPE_UNSPECIFIED, v1::DATA_TYPE_FLOAT32, v1::DATA_TYPE_FLOAT16, v1::DATA_TYPE_BFLOAT16}));
    message_.set_part(draw_.Of({v1::PART_UNSPECIFIED, v1::PART_COMPOSED, v1::PART_TOKEN,
                                model_.position_rows > 0 ? v1::PART_POSITION : v1::PART_COMPOSED}));
    DrawShape();
    cells_ = std::accumulate(request_.lengths.begin(), request_.lengths.end(), std::int64_t{0});
    DrawSource();
    DrawPositions();
    if (model_.token_types > 0 && draw_.Chance(0.6)) {
      Fill(message_.mutable_token_type_ids(), cells_, model_.token_types);
    }
    if (draw_.Chance(0.4)) Fill(message_.mutable_attention_mask(), cells_, 2);
    return std::move(request_);
  }

 private:
  [[nodiscard]] bool is_ragged() const { return message_.row_lengths_size() > 0; }

  void Fill(Cells* field, std::int64_t count, std::int64_t end) {
    for (std::int64_t i = 0; i < count; ++i) field->Add(draw_.Integer(0, end - 1));
  }

  std::int64_t DrawLength() { return draw_.Integer(0, draw_.Of<std::int64_t>({0, 3, 20, 20, kLongestRow})); }

  void DrawShape() {
    std::vector<std::int64_t>& lengths = request_.lengths;
    const std::int64_t rows = draw_.Of<std::int64_t>({0, 1, 1, 2, 3, 5});
    if (rows == 0 || !draw_.Chance(0.4)) {
      request_.padded_to = std::max<std::int64_t>(1, DrawLength());
      lengths.assign(static_cast<std::size_t>(rows), request_.padded_to);
      message_.set_batch_size(rows);
      message_.set_sequence_length(request_.padded_to);
      return;
    }
    for (std::int64_t b = 0; b < rows; ++b) lengths.push_back(DrawLength());
    message_.mutable_row_lengths()->Assign(lengths.begin(), lengths.end());
    request_.padded_to = *std::max_element(lengths.begin(), lengths.end());
    if (draw_.Chance(0.3)) message_.set_batch_size(rows);
    message_.set_ragged_layout(
        draw_.Of({v1::RAGGED_LAYOUT_UNSPECIFIED, v1::RAGGED_LAYOUT_PADDED, v1::RAGGED_LAYOUT_PACKED}));
    if (message_.ragged_layout() != v1::RAGGED_LAYOUT_PACKED) {
      message_.set_padding_side(
          draw_.Of({v1::PADDING_SIDE_UNSPECIFIED, v1::PADDING_SIDE_RIGHT, v1::PADDING_SIDE_LEFT}));
    }
    if (draw_.Chance(0.4)) {
      request_.padded_to = std::max<std::int64_t>(1, request_.padded_to) + draw_.Integer(0, 3);
      message_.set_sequence_length(request_.padded_to);
    }
  }

  void DrawSource() {
    if (message_.part() == v1::PART_POSITION && draw_.Chance(0.4)) return;
    if (draw_.Chance(0.25)) return DrawVectors();
    DrawIds();
    message_.set_unique(message_.part() == v1::PART_TOKEN && draw_.Chance(0.3));
  }

  void DrawVectors() {
    v1::Tensor& tensor = *message_.mutable_inputs_embeds();
    tensor.set_data_type(
        draw_.Of({v1::DATA_TYPE_FLOAT32, v1::DATA_TYPE_FLOAT16, v1::DATA_TYPE_BFLOAT16, v1::DATA_TYPE_FLOAT64}));
    tensor.set_data(RandomElements(draw_, tensor.data_type(), cells_ * model_.dim));
    for (char& byte : *tensor.mutable_data()) {  // infinities, and what is no number
      if (draw_.Chance(0.01)) byte = '\xFF';
    }
    SetShape(&tensor);
    tensor.add_shape(model_.dim);
  }

  void DrawIds() {
    Cells ids;
    Fill(&ids, cells_, model_.vocab_size);
    const v1::DataType type = draw_.Of({v1::DATA_TYPE_UNSPECIFIED, v1::DATA_TYPE_UNSPECIFIED, v1::DATA_TYPE_INT32,
                                        v1::DATA_TYPE_INT64, v1::DATA_TYPE_UINT32});
    for (std::int64_t& id : ids) {
      if (model_.padding_idx.has_value() && draw_.Chance(0.1)) id = *model_.padding_idx;
      if (model_.serves_unknown_ids && draw_.Chance(0.05)) id = UnknownId(type);
    }
    if (type == v1::DATA_TYPE_UNSPECIFIED) {
      *message_.mutable_ids() = std::move(ids);
      return;
    }
    v1::Tensor& tensor = *message_.mutable_ids_tensor();
    tensor.set_data_type(type);
    SetShape(&tensor);
    for (const std::int64_t id : ids) {
      tensor.mutable_data()->append(reinterpret_cast<const char*>(&id),
                                    static_cast<std::size_t>(wire::DataTypeSize(type)));
    }
  }

  std::int64_t UnknownId(v1::DataType type) {
    using Limits = std::numeric_limits<std::int64_t>;
    if (type == v1::DATA_TYPE_UINT32) return draw_.Of({model_.vocab_size, std::int64_t{0xFFFFFFFF}});
    if (type == v1::DATA_TYPE_INT32)
      return draw_.Of({model_.vocab_size, std::int64_t{-1}, std::int64_t{-0x80000000LL}});
    return draw_.Of({model_.vocab_size, std::int64_t{-1}, Limits::min(), Limits::max()});
  }

  // All but the width of vectors; may stand in for batch_size or sequence_length.
  void SetShape(v1::Tensor* tensor) {
    if (is_ragged()) return tensor->add_shape(cells_);
    tensor->add_shape(message_.batch_size());
    tensor->add_shape(message_.sequence_length());
    if (draw_.Chance(0.3)) message_.clear_batch_size();
    if (draw_.Chance(0.3)) message_.clear_sequence_length();
  }

  void DrawPositions() {
    const bool used = message_.part() != v1::PART_TOKEN && model_.position_rows > 0;
    const double drawn = static_cast<double>(draw_.Below(10)) / 10;
    if (drawn < 0.3) {
      const bool shared = !is_ragged() && draw_.Chance(0.5);
      Fill(message_.mutable_position_ids(), shared ? request_.padded_to : cells_,
           used ? model_.position_rows - model_.row_offset : kAnyPosition);
    } else if (drawn < 0.7) {
      const bool one = request_.lengths.empty() || draw_.Chance(0.5);
      std::int64_t least = used ? model_.room() : kAnyPosition - 1;
      for (const std::int64_t length : request_.lengths) {
        const std::int64_t room = used ? model_.room() - length : kAnyPosition - 1;
        least = std::min(least, room);
        if (!one) message_.add_position_offsets(draw_.Integer(0, room));
      }
      if (one) message_.add_position_offsets(draw_.Integer(0, least));
    }
  }

  Draw& draw_;
  const RandomModel& model_;
  RandomRequest request_;
  v1::EmbedRequest& message_ = request_.message;
  std::int64_t cells_ = 0;
};

void Take(const Cells& from, std::int64_t first, std::int64_t count, Cells* to) {
  if (!from.empty()) to->Assign(from.begin() + first, from.begin() + first + count);
}

// `count` of the rows of a tensor whose other extents are those of one row.
v1::Tensor Part(const v1::Tensor& tensor, std::int64_t cells, std::int64_t first, std::int64_t count) {
  const std::size_t cell_bytes = cells == 0 ? 0 : tensor.data().size() / static_cast<std::size_t>(cells);
  v1::Tensor part;
  part.set_data_type(tensor.data_type());
  part.add_shape(1);
  part.add_shape(count);
  part.set_data(
      tensor.data().substr(static_cast<std::size_t>(first) * cell_bytes, static_cast<std::size_t>(count) * cell_bytes));
  return part;
}

}  // namespace

RandomRequest DrawRequest(Draw& draw, const RandomModel& model) { return Drawing(draw, model).Make(); }

v1::EmbedRequest RowAlone(const RandomRequest& request, std::size_t row) {
  const v1::EmbedRequest& batch = request.message;
  const auto begin = request.lengths.begin();
  const std::int64_t first = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(row), std::int64_t{0});
  const std::int64_t cells = std::accumulate(begin, request.lengths.end(), std::int64_t{0});
  const std::int64_t length = request.lengths[row];
  v1::EmbedRequest alone;
  alone.set_model(batch.model());
  alone.set_model_version(batch.model_version());
  alone.set_part(batch.part());
  alone.set_output_type(batch.output_type());
  alone.set_batch_size(1);
  alone.set_sequence_length(length);
  Take(batch.ids(), first, length, alone.mutable_ids());
  Take(batch.token_type_ids(), first, length, alone.mutable_token_type_ids());
  Take(batch.attention_mask(), first, length, alone.mutable_attention_mask());
  const bool shared = batch.position_ids_size() != cells;
  Take(batch.position_ids(), shared ? 0 : first, length, alone.mutable_position_ids());
  if (batch.position_offsets_size() > 0) {
    alone.add_position_offsets(batch.position_offsets(batch.position_offsets_size() == 1 ? 0 : static_cast<int>(row)));
  }
  if (batch.has_ids_tensor()) *alone.mutable_ids_tensor() = Part(batch.ids_tensor(), cells, first, length);
  if (batch.has_inputs_embeds()) {
    *alone.mutable_inputs_embeds() = Part(batch.inputs_embeds(), cells, first, length);
    const v1::Tensor& vectors = batch.inputs_embeds();
    alone.mutable_inputs_embeds()->add_shape(vectors.shape(vectors.shape_size() - 1));
  }
  return alone;
}

std::string RowOfReply(const RandomRequest& request, const v1::EmbedResponse& reply, std::size_t row) {
  const v1::Tensor& tensor = reply.embeddings();
  const std::int64_t row_bytes = tensor.shape(tensor.shape_size() - 1) * wire::DataTypeSize(tensor.data_type());
  const std::int64_t length = request.lengths[row];
  const auto begin = request.lengths.begin();
  std::int64_t first = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(row), std::int64_t{0});
  if (request.message.ragged_layout() != v1::RAGGED_LAYOUT_PACKED) {
    first = static_cast<std::int64_t>(row) * request.padded_to;
    if (request.message.padding_side() == v1::PADDING_SIDE_LEFT) first += request.padded_to - length;
  }
  return tensor.data().substr(static_cast<std::size_t>(first * row_bytes),
                              static_cast<std::size_t>(length * row_bytes));
}

}  // namespace embd::testing

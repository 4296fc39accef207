// What can be broken in an EmbedRequest.
#include <array>
#include <limits>

#include "tests/integration/routes/broken_requests.h"

namespace embd::testing {
namespace {

using Request = v1::EmbedRequest;
using Cells = google::protobuf::RepeatedField<std::int64_t>;

constexpr std::array kHuge = {std::numeric_limits<std::int64_t>::max(),
                              std::numeric_limits<std::int64_t>::min(),
                              std::int64_t{1} << 62,
                              (std::int64_t{1} << 62) + 1,
                              std::int64_t{1} << 32,
                              std::int64_t{1} << 31,
                              -(std::int64_t{1} << 31),
                              std::int64_t{-1}};

Cells* ValuesOfCells(Draw& draw, Request* request) {
  switch (draw.Below(6)) {
    case 0: return request->mutable_position_ids();
    case 1: return request->mutable_token_type_ids();
    case 2: return request->mutable_attention_mask();
    case 3: return request->mutable_row_lengths();
    case 4: return request->mutable_position_offsets();
    default: return request->mutable_ids();
  }
}

void WildValue(Draw& draw, Request* request) {
  Cells& values = *ValuesOfCells(draw, request);
  if (values.empty()) {
    values.Add(draw.Of(kHuge));
  } else {
    values[draw.Below(values.size())] = draw.Of(kHuge);
  }
}

void WildId(Draw& draw, Request* request) {
  if (request->ids_size() > 0) return request->set_ids(draw.Below(request->ids_size()), draw.Of(kHuge));
  if (!request->has_ids_tensor()) return;
  std::string& data = *request->mutable_ids_tensor()->mutable_data();
  if (!data.empty()) data[static_cast<std::size_t>(draw.Below(static_cast<int>(data.size())))] ^= '\x7F';
}

void WrongCount(Draw& draw, Request* request) {
  Cells& values = *ValuesOfCells(draw, request);
  if (!values.empty() && draw.Chance(0.5)) return values.Truncate(draw.Below(values.size()));
  const std::int64_t value = draw.Integer(0, 2);
  for (std::int64_t more = draw.Integer(1, 30); more > 0; --more) values.Add(value);
}

void WrongExtent(Draw& draw, Request* request) {
  constexpr std::array kBeyond = {std::int64_t{0}, std::int64_t{2}, std::int64_t{1001}, std::int64_t{4097},
                                  std::int64_t{1} << 40};
  const std::int64_t wrong = draw.Chance(0.5) ? draw.Of(kHuge) : draw.Of(kBeyond);
  draw.Chance(0.5) ? request->set_batch_size(wrong) : request->set_sequence_length(wrong);
}

// Without a value a cell the part that needs none may be as large as it likes.
void TooManyPositions(Draw& draw, Request* request) {
  const v1::EmbedRequest kept = *request;
  request->Clear();
  request->set_model(kept.model());
  request->set_part(v1::PART_POSITION);
  request->set_batch_size(draw.Of<std::int64_t>({1, 40, 999, 1000, 1001}));
  request->set_sequence_length(draw.Of<std::int64_t>({1, 140, 999, 1000, 1001}));
}

void WrongTensor(Draw& draw, Request* request) {
  v1::Tensor& tensor = request->has_inputs_embeds() || draw.Chance(0.3) ? *request->mutable_inputs_embeds()
                                                                        : *request->mutable_ids_tensor();
  switch (draw.Below(4)) {
    case 0: return tensor.set_data_type(static_cast<v1::DataType>(draw.Of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 99, -5})));
    case 1:
      if (tensor.shape_size() == 0) return;
      return tensor.set_shape(draw.Below(tensor.shape_size()), draw.Chance(0.5) ? draw.Of(kHuge) : draw.Integer(0, 1));
    case 2: return tensor.add_shape(draw.Chance(0.5) ? draw.Of(kHuge) : draw.Integer(0, 2));
    default:
      tensor.mutable_data()->resize(
          static_cast<std::size_t>(draw.Integer(0, static_cast<std::int64_t>(tensor.data().size()) + 8)), 'x');
  }
}

void SetEnum(Draw& draw, Request* request, int number) {
  switch (draw.Below(4)) {
    case 0: return request->set_part(static_cast<v1::Part>(number));
    case 1: return request->set_output_type(static_cast<v1::DataType>(number));
    case 2: return request->set_ragged_layout(static_cast<v1::RaggedLayout>(number));
    default: return request->set_padding_side(static_cast<v1::PaddingSide>(number));
  }
}

void WrongEnum(Draw& draw, Request* request) {
  SetEnum(draw, request, draw.Of({9, 7, 4, -1, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}));
}

void OtherEnum(Draw& draw, Request* request) { SetEnum(draw, request, draw.Below(4)); }

void SecondSource(Draw& draw, Request* request) {
  switch (draw.Below(3)) {
    case 0: return request->add_ids(0);
    case 1: return request->mutable_ids_tensor()->set_data_type(v1::DATA_TYPE_INT32);
    default: return request->mutable_inputs_embeds()->set_data_type(v1::DATA_TYPE_FLOAT32);
  }
}

void NoSuchModel(Draw& draw, Request* request) {
  std::string accents;
  for (int i = 0; i < 300; ++i) accents += "é";
  request->set_model(draw.Of<std::string>({"", "nobody", "random-0 ", std::string("random-0\0", 9), accents}));
}

void NoSuchVersion(Draw& draw, Request* request) {
  request->set_model_version(draw.Of<std::string>({"2", "1\n", "-1", std::string(2000, 'x')}));
}

void OtherTables(Draw& draw, Request* request) {
  request->set_if_checksum(draw.Of<std::string>({std::string(64, 'a'), std::string(1, '\0'), std::string(2000, 'x')}));
}

void Unique(Draw& /*draw*/, Request* request) { request->set_unique(true); }

void FieldGone(Draw& draw, Request* request) {
  const auto& fields = *Request::descriptor();
  request->GetReflection()->ClearField(request, fields.field(draw.Below(fields.field_count())));
}

// The rest is for requests whose tensors all have the shape that they should.

void WildCell(Draw& draw, Request* request) {
  for (Cells* const values :
       {request->mutable_position_ids(), request->mutable_token_type_ids(), request->mutable_attention_mask()}) {
    if (!values->empty() && draw.Chance(0.5)) values->Set(draw.Below(values->size()), draw.Of(kHuge));
  }
}

void Types(Draw& draw, Request* request) {
  const Extents extents = ExtentsOf(*request);
  request->clear_token_type_ids();
  for (std::int64_t i = 0; i < extents.batch_size * extents.sequence_length; ++i) {
    request->add_token_type_ids(draw.Integer(0, 6));
  }
}

void OnlyPositions(Draw& /*draw*/, Request* request) { request->set_part(v1::PART_POSITION); }

void TooManyCells(Draw& draw, Request* request) {
  const Request kept = *request;
  request->Clear();
  request->set_model(kept.model());
  request->set_part(kept.part());
  request->set_batch_size(draw.Of<std::int64_t>({1, 20, 1000, 1001}));
  request->set_sequence_length(request->batch_size() > 20 ? draw.Integer(0, 3)
                                                          : draw.Of<std::int64_t>({130, 200, 1000, 1001}));
  for (std::int64_t i = 0; i < request->batch_size() * request->sequence_length(); ++i) {
    request->add_ids(draw.Integer(0, 3));
  }
}

constexpr std::array kForEngine = {WildId, WildId,        WildCell,     WildCell,    Types,
                                   Types,  OnlyPositions, TooManyCells, NoSuchModel, NoSuchVersion};

constexpr std::array kSpoilers = {WildValue,   WildValue,   WildId,       WildId,          WrongCount,
                                  WrongCount,  WrongExtent, WrongExtent,  WrongTensor,     WrongTensor,
                                  WrongEnum,   OtherEnum,   SecondSource, NoSuchModel,     NoSuchVersion,
                                  OtherTables, Unique,      FieldGone,    TooManyPositions};

}  // namespace

void Spoil(Draw& draw, const std::string& region, v1::EmbedRequest* request) {
  for (int faults = draw.Of({1, 1, 2, 3}); faults > 0; --faults) draw.Of(kSpoilers)(draw, request);
  if (!draw.Chance(0.04)) return;
  v1::SharedMemoryTarget& target = *request->mutable_output_target();
  target.set_region(draw.Chance(0.7) ? region : "nowhere");
  target.set_offset(draw.Chance(0.5) ? 0 : draw.Of(kHuge));
  target.set_byte_size(draw.Chance(0.5) ? 1 : draw.Of(kHuge));
}

void SpoilForEngine(Draw& draw, v1::EmbedRequest* request) {
  for (int faults = draw.Of({1, 1, 2, 3}); faults > 0; --faults) draw.Of(kForEngine)(draw, request);
}

}  // namespace embd::testing

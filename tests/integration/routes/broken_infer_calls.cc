// What can be broken in a request of the Open Inference Protocol.
#include <array>
#include <cstring>
#include <limits>

#include "tests/integration/routes/broken_requests.h"

namespace embd::testing {
namespace {

constexpr std::array<std::int64_t, 6> kHuge = {std::numeric_limits<std::int64_t>::max(),
                                               std::numeric_limits<std::int64_t>::min(),
                                               std::int64_t{1} << 62,
                                               std::int64_t{1} << 32,
                                               std::int64_t{1} << 31,
                                               -1};

// One of the inputs, of which there is at least one.
struct Input {
  InferInput* message;
  std::string* data;
};
Input AnyInput(Draw& draw, InferCall* call) {
  const int i = draw.Below(call->request.inputs_size());
  return {call->request.mutable_inputs(i), &call->data[static_cast<std::size_t>(i)]};
}

::inference::InferParameter& Parameter(InferCall* call, const char* name) {
  return (*call->request.mutable_parameters())[name];
}

void UnknownInput(Draw& draw, InferCall* call) {
  AnyInput(draw, call).message->set_name(draw.Of<std::string>({"", "ids", "Input_ids", std::string(500, 'i')}));
}

void RepeatedInput(Draw& draw, InferCall* call) {
  const Input input = AnyInput(draw, call);
  const InferInput message = *input.message;
  *call->request.add_inputs() = message;
  call->data.push_back(std::string(*input.data));
}

void MissingInput(Draw& draw, InferCall* call) {
  const int i = draw.Below(call->request.inputs_size());
  call->request.mutable_inputs()->DeleteSubrange(i, 1);
  call->data.erase(call->data.begin() + i);
}

void BothSources(Draw& /*draw*/, InferCall* call) {
  InferInput& ids = *call->request.add_inputs();
  ids = call->request.inputs(0);
  ids.set_name(ids.name() == "input_ids" ? "inputs_embeds" : "input_ids");
  call->data.push_back(std::string(call->data.front()));
}

void WrongDatatype(Draw& draw, InferCall* call) {
  AnyInput(draw, call)
      .message->set_datatype(
          draw.Of<std::string>({"", "INT8", "UINT32", "BOOL", "BYTES", "FP32", "FP64", "INT32", "INT64", "int64"}));
}

void WrongExtent(Draw& draw, InferCall* call) {
  auto& shape = *AnyInput(draw, call).message->mutable_shape();
  const std::int64_t extent = draw.Chance(0.5) ? draw.Of(kHuge) : draw.Of<std::int64_t>({0, 1, 2, 1001});
  if (shape.empty() || draw.Chance(0.2)) {
    shape.Add(extent);
  } else if (draw.Chance(0.2)) {
    shape.RemoveLast();
  } else {
    shape[draw.Below(shape.size())] = extent;
  }
}

// By whole elements, of whatever type.
void WrongSize(Draw& draw, InferCall* call) {
  std::string& data = *AnyInput(draw, call).data;
  data.resize(static_cast<std::size_t>(draw.Integer(0, static_cast<std::int64_t>(data.size()) / 8 + 4)) * 8, '\1');
}

void WildValue(Draw& draw, InferCall* call) {
  const Input input = AnyInput(draw, call);
  if (input.data->size() < 8) return;
  const std::int64_t value = draw.Of(kHuge);
  const auto last = static_cast<std::int64_t>(input.data->size() / 8) - 1;
  std::memcpy(input.data->data() + draw.Integer(0, last) * 8, &value, sizeof(value));
}

void WrongOutput(Draw& draw, InferCall* call) {
  auto& output = *call->request.add_outputs();
  output.set_name(draw.Of<std::string>({"", "logits", "embeddings", "token_embeddings", "position_embeddings"}));
  if (draw.Chance(0.2)) (*output.mutable_parameters())["classification"].set_int64_param(1);
}

void WrongParameter(Draw& draw, InferCall* call) {
  switch (draw.Below(6)) {
    case 0: return Parameter(call, "output_datatype").set_string_param(draw.Of({"FP64", "fp32", ""}));
    case 1: return Parameter(call, "output_datatype").set_int64_param(1);
    case 2: return Parameter(call, "sequence_id").set_int64_param(draw.Integer(0, 1));
    case 3: return Parameter(call, "triton_enable").set_bool_param(true);
    case 4: return Parameter(call, "priority").set_int64_param(-1);
    default: return Parameter(call, "timeout").set_int64_param(draw.Of(kHuge));
  }
}

void LongId(Draw& draw, InferCall* call) {
  call->request.set_id(std::string(static_cast<std::size_t>(draw.Integer(1023, 1026)), 'i'));
}

void NoSuchModel(Draw& draw, InferCall* call) {
  call->request.set_model_name(draw.Of<std::string>({"", "nobody", "random-0 ", std::string(500, 'm')}));
}

void NoSuchVersion(Draw& draw, InferCall* call) {
  call->request.set_model_version(draw.Of<std::string>({"2", "01", "one", "-1", std::string(500, '9')}));
}

constexpr std::array kSpoilers = {UnknownInput, RepeatedInput,  MissingInput, BothSources, WrongDatatype, WrongExtent,
                                  WrongExtent,  WrongSize,      WrongSize,    WildValue,   WildValue,     WrongOutput,
                                  WrongOutput,  WrongParameter, LongId,       NoSuchModel, NoSuchVersion};

}  // namespace

void Spoil(Draw& draw, InferCall* call) {
  for (int faults = draw.Of({1, 1, 2, 3}); faults > 0 && call->request.inputs_size() > 0; --faults) {
    draw.Of(kSpoilers)(draw, call);
  }
}

}  // namespace embd::testing

#include "tests/fuzz/message_mutator.h"

#include <array>
#include <iterator>
#include <limits>
#include <random>
#include <string>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t max_size);

namespace embd::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Random = std::minstd_rand;

constexpr int kMaxItems = 64;

std::uint64_t Below(Random& random, std::uint64_t count) { return random() % count; }

std::int64_t DrawInteger(Random& random) {
  constexpr std::array<std::int64_t, 12> kEdges = {-1,
                                                   10,
                                                   9,
                                                   64,
                                                   65,
                                                   255,
                                                   4096,
                                                   std::int64_t{1} << 31,
                                                   std::int64_t{1} << 32,
                                                   std::int64_t{1} << 62,
                                                   std::numeric_limits<std::int64_t>::max(),
                                                   std::numeric_limits<std::int64_t>::min()};
  if (Below(random, 3) != 0) return static_cast<std::int64_t>(Below(random, 10));
  return kEdges[Below(random, kEdges.size())];
}

double DrawReal(Random& random) {
  constexpr std::array<double, 9> kEdges = {0.0,
                                            1.0,
                                            -1.0,
                                            10000.0,
                                            1e-300,
                                            1e300,
                                            std::numeric_limits<double>::infinity(),
                                            -std::numeric_limits<double>::infinity(),
                                            std::numeric_limits<double>::quiet_NaN()};
  if (Below(random, 3) != 0) return static_cast<double>(Below(random, 100)) / 8.0;
  return kEdges[Below(random, kEdges.size())];
}

std::string DrawText(Random& random, std::string text) {
  // What the requests are about; chance finds the bytes between them.
  constexpr std::array<const char*, 22> kWords = {"",
                                                  "tiny",
                                                  "turned",
                                                  "input_ids",
                                                  "attention_mask",
                                                  "position_ids",
                                                  "token_type_ids",
                                                  "inputs_embeds",
                                                  "INT64",
                                                  "INT32",
                                                  "FP32",
                                                  "FP16",
                                                  "BF16",
                                                  "BYTES",
                                                  "embeddings",
                                                  "1",
                                                  "yarn",
                                                  "llama3",
                                                  "dynamic",
                                                  "longrope",
                                                  "linear",
                                                  "shared_memory_region"};
  if (Below(random, 2) == 0) return kWords[Below(random, kWords.size())];
  text.resize(text.size() + 16);
  const std::size_t size =
      LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), text.size() - 16, text.size());
  text.resize(size);
  return text;
}

// Sets a field that is no list, or adds an item to a list; of messages, an empty one.
void SetOrAdd(Message* message, const FieldDescriptor* field, Random& random) {
  const Reflection& reflection = *message->GetReflection();
  const bool add = field->is_repeated();
  const std::int64_t integer = DrawInteger(random);
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return add ? reflection.AddInt32(message, field, static_cast<std::int32_t>(integer))
                 : reflection.SetInt32(message, field, static_cast<std::int32_t>(integer));
    case FieldDescriptor::CPPTYPE_INT64:
      return add ? reflection.AddInt64(message, field, integer) : reflection.SetInt64(message, field, integer);
    case FieldDescriptor::CPPTYPE_UINT32:
      return add ? reflection.AddUInt32(message, field, static_cast<std::uint32_t>(integer))
                 : reflection.SetUInt32(message, field, static_cast<std::uint32_t>(integer));
    case FieldDescriptor::CPPTYPE_UINT64:
      return add ? reflection.AddUInt64(message, field, static_cast<std::uint64_t>(integer))
                 : reflection.SetUInt64(message, field, static_cast<std::uint64_t>(integer));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return add ? reflection.AddDouble(message, field, DrawReal(random))
                 : reflection.SetDouble(message, field, DrawReal(random));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return add ? reflection.AddFloat(message, field, static_cast<float>(DrawReal(random)))
                 : reflection.SetFloat(message, field, static_cast<float>(DrawReal(random)));
    case FieldDescriptor::CPPTYPE_BOOL:
      return add ? reflection.AddBool(message, field, integer % 2 != 0)
                 : reflection.SetBool(message, field, integer % 2 != 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      return add ? reflection.AddEnumValue(message, field, static_cast<int>(integer % 12))
                 : reflection.SetEnumValue(message, field, static_cast<int>(integer % 12));
    case FieldDescriptor::CPPTYPE_STRING:
      return add ? reflection.AddString(message, field, DrawText(random, ""))
                 : reflection.SetString(message, field, DrawText(random, reflection.GetString(*message, field)));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return void(add ? reflection.AddMessage(message, field) : reflection.MutableMessage(message, field));
  }
}

void MutateField(Message* message, const FieldDescriptor* field, Random& random) {
  const Reflection& reflection = *message->GetReflection();
  const int size = field->is_repeated() ? reflection.FieldSize(*message, field) : 0;
  switch (Below(random, 6)) {
    case 0: return reflection.ClearField(message, field);
    case 1:
      if (size > 0) return reflection.RemoveLast(message, field);
      break;
    case 2:
      if (size > 1) {
        return reflection.SwapElements(message, field, 0, static_cast<int>(Below(random, static_cast<unsigned>(size))));
      }
      break;
    default: break;
  }
  if (size < kMaxItems) SetOrAdd(message, field, random);
}

// A message below that one, or nullptr.
Message* DrawBelow(Message* message, Random& random) {
  const Reflection& reflection = *message->GetReflection();
  std::vector<const FieldDescriptor*> set;
  reflection.ListFields(*message, &set);
  std::vector<Message*> below;
  for (const FieldDescriptor* field : set) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) below.push_back(reflection.MutableMessage(message, field));
    for (int i = 0; field->is_repeated() && i < reflection.FieldSize(*message, field); ++i) {
      below.push_back(reflection.MutableRepeatedMessage(message, field, i));
    }
  }
  return below.empty() ? nullptr : below[Below(random, below.size())];
}

}  // namespace

void MutateMessage(Message* message, unsigned int seed) {
  Random random(seed + 1);
  while (Below(random, 2) == 0) {
    Message* const below = DrawBelow(message, random);
    if (below == nullptr) break;
    message = below;
  }
  const google::protobuf::Descriptor& type = *message->GetDescriptor();
  if (type.field_count() == 0) return;
  const auto index = Below(random, static_cast<std::uint64_t>(type.field_count()));
  MutateField(message, type.field(static_cast<int>(index)), random);
}

std::size_t MutateEncoded(const Message& prototype, std::uint8_t* bytes, std::size_t size, std::size_t max_size,
                          unsigned int seed) {
  const std::unique_ptr<Message> message(prototype.New());
  if (seed % 4 == 0 || !message->ParsePartialFromArray(bytes, static_cast<int>(size))) {
    return LLVMFuzzerMutate(bytes, size, max_size);
  }
  MutateMessage(message.get(), seed / 4);
  const std::size_t new_size = message->ByteSizeLong();
  if (new_size > max_size) return LLVMFuzzerMutate(bytes, size, max_size);
  (void)message->SerializePartialToArray(bytes, static_cast<int>(max_size));
  return new_size;
}

}  // namespace embd::fuzz

#include "server/formats/safetensors_entries.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::formats {
namespace {

using core::ElementType;

constexpr SafetensorsType kTypes[] = {
    {"F32", 32, ElementType::kFloat32},
    {"F16", 16, ElementType::kFloat16},
    {"BF16", 16, ElementType::kBFloat16},
    {"F64", 64, ElementType::kFloat64},
    {"BOOL", 8, std::nullopt},
    {"U8", 8, std::nullopt},
    {"I8", 8, std::nullopt},
    {"U16", 16, std::nullopt},
    {"I16", 16, std::nullopt},
    {"U32", 32, std::nullopt},
    {"I32", 32, std::nullopt},
    {"U64", 64, std::nullopt},
    {"I64", 64, std::nullopt},
    {"C64", 64, std::nullopt},
    {"F8_E5M2", 8, std::nullopt},
    {"F8_E4M3", 8, std::nullopt},
    {"F8_E8M0", 8, std::nullopt},
    {"F8_E4M3FNUZ", 8, std::nullopt},
    {"F8_E5M2FNUZ", 8, std::nullopt},
    {"F6_E2M3", 6, std::nullopt},
    {"F6_E3M2", 6, std::nullopt},
    {"F4", 4, std::nullopt},
};

const SafetensorsType* FindType(absl::string_view name) {
  for (const SafetensorsType& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

}  // namespace

bool SafetensorsEntries::FailTensor(absl::string_view message) {
  return Fail(absl::StrCat("tensor ", core::Quote(tensors_.back().name), ": ", message));
}

bool SafetensorsEntries::Unexpected(absl::string_view kind) {
  switch (place_) {
    case Place::kDocument: return Fail(absl::StrCat("the header is not a JSON object but ", kind));
    case Place::kTensors:
      return in_metadata_key_ ? Fail(absl::StrCat("__metadata__ must be an object, got ", kind))
                              : FailTensor(absl::StrCat("must be an object, got ", kind));
    case Place::kMetadata:
      return Fail(absl::StrCat("__metadata__: ", core::Quote(metadata_keys_.back()), " must be a string, got ", kind));
    case Place::kShape: return FailTensor(absl::StrCat("shape must hold whole numbers of at least 0, got ", kind));
    case Place::kOffsets:
      return FailTensor(absl::StrCat("data_offsets must hold whole numbers of at least 0, got ", kind));
    case Place::kTensor: break;
  }
  switch (field_) {
    case Field::kDtype: return FailTensor(absl::StrCat("dtype must be a string, got ", kind));
    case Field::kShape: return FailTensor(absl::StrCat("shape must be an array, got ", kind));
    case Field::kOffsets: return FailTensor(absl::StrCat("data_offsets must be an array, got ", kind));
    case Field::kOther: break;
  }
  return true;
}

bool SafetensorsEntries::number_unsigned(number_unsigned_t value) {
  SafetensorsTensor* const tensor = tensors_.empty() ? nullptr : &tensors_.back();
  if (place_ == Place::kShape) {
    if (tensor->rank < tensor->sizes.size()) tensor->sizes[tensor->rank] = value;
    ++tensor->rank;
    overflow_ = __builtin_mul_overflow(elements_, value, &elements_) || overflow_;
    return true;
  }
  if (place_ == Place::kOffsets) {
    (offset_count_ == 0 ? tensor->begin : tensor->end) = value;
    return ++offset_count_ <= 2 || FailTensor("data_offsets must hold two numbers, got more");
  }
  return Unexpected("a number");
}

bool SafetensorsEntries::string(string_t& value) {
  if (place_ == Place::kMetadata) return true;
  if (place_ != Place::kTensor || field_ != Field::kDtype) return Unexpected("a string");
  tensors_.back().type = FindType(value);
  has_dtype_ = true;
  return tensors_.back().type != nullptr || FailTensor(absl::StrCat("dtype ", core::Quote(value), " is unknown"));
}

bool SafetensorsEntries::start_object(std::size_t) {
  if (Ignores()) {
    ++ignored_depth_;
    return true;
  }
  if (place_ == Place::kDocument) {
    place_ = Place::kTensors;
    return true;
  }
  if (place_ != Place::kTensors) return Unexpected("an object");
  place_ = in_metadata_key_ ? Place::kMetadata : Place::kTensor;
  has_dtype_ = has_shape_ = has_offsets_ = overflow_ = false;
  elements_ = 1;
  offset_count_ = 0;
  return true;
}

bool SafetensorsEntries::key(string_t& name) {
  if (ignored_depth_ > 0) return true;
  if (place_ == Place::kMetadata) {
    metadata_keys_.push_back(std::move(name));
  } else if (place_ == Place::kTensors) {
    in_metadata_key_ = name == "__metadata__";
    if (in_metadata_key_) {
      ++metadata_count_;
    } else {
      tensors_.emplace_back().name = std::move(name);
    }
  } else {
    field_ = name == "dtype"          ? Field::kDtype
             : name == "shape"        ? Field::kShape
             : name == "data_offsets" ? Field::kOffsets
                                      : Field::kOther;
    const bool again = (field_ == Field::kDtype && has_dtype_) || (field_ == Field::kShape && has_shape_) ||
                       (field_ == Field::kOffsets && has_offsets_);
    if (again) return FailTensor(absl::StrCat("field ", core::Quote(name), " stands twice"));
  }
  return true;
}

bool SafetensorsEntries::end_object() {
  if (ignored_depth_ > 0) {
    --ignored_depth_;
    return true;
  }
  if (place_ == Place::kTensors) {
    place_ = Place::kDocument;
    return true;
  }
  const bool tensor_ends = place_ == Place::kTensor;
  place_ = Place::kTensors;
  return !tensor_ends || EndTensor();
}

bool SafetensorsEntries::start_array(std::size_t) {
  if (Ignores()) {
    ++ignored_depth_;
    return true;
  }
  if (place_ != Place::kTensor || field_ == Field::kDtype) return Unexpected("an array");
  if (field_ == Field::kShape) {
    place_ = Place::kShape;
    has_shape_ = true;
  } else {
    place_ = Place::kOffsets;
    has_offsets_ = true;
  }
  return true;
}

bool SafetensorsEntries::end_array() {
  if (ignored_depth_ > 0) {
    --ignored_depth_;
    return true;
  }
  place_ = Place::kTensor;
  return true;
}

bool SafetensorsEntries::EndTensor() {
  const SafetensorsTensor& tensor = tensors_.back();
  if (!has_dtype_) return FailTensor("field \"dtype\" is missing");
  if (!has_shape_) return FailTensor("field \"shape\" is missing");
  if (!has_offsets_) return FailTensor("field \"data_offsets\" is missing");
  if (offset_count_ != 2) return FailTensor(absl::StrCat("data_offsets must hold two numbers, got ", offset_count_));
  if (tensor.end < tensor.begin) {
    return FailTensor(absl::StrCat("data_offsets [", tensor.begin, ", ", tensor.end, "] end before they begin"));
  }
  std::uint64_t bits = 0;
  if (overflow_ || __builtin_mul_overflow(elements_, tensor.type->bits, &bits)) {
    return FailTensor("its shape takes more than 2^64 - 1 bits");
  }
  if (bits % 8 != 0) {
    return FailTensor(absl::StrCat(elements_, " elements of ", tensor.type->name, " do not fill whole bytes"));
  }
  if (bits / 8 != tensor.end - tensor.begin) {
    return FailTensor(absl::StrCat("its shape of ", tensor.type->name, " takes ", bits / 8, " bytes, data_offsets [",
                                   tensor.begin, ", ", tensor.end, "] span ", tensor.end - tensor.begin));
  }
  return true;
}

}  // namespace embd::formats

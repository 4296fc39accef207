#ifndef EMBD_SERVER_FORMATS_SAFETENSORS_ENTRIES_H_
#define EMBD_SERVER_FORMATS_SAFETENSORS_ENTRIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/formats/json_reader.h"
#include "server/formats/safetensors_header.h"

namespace embd::formats {

/// Collects the tensors of a .safetensors header, each checked by itself: fields, type, and its shape against its
/// offsets.
class SafetensorsEntries : public JsonHandler {
 public:
  /// In the order of the header.
  [[nodiscard]] std::vector<SafetensorsTensor>& tensors() { return tensors_; }
  /// Keys of `__metadata__`, in the order of the header.
  [[nodiscard]] std::vector<std::string>& metadata_keys() { return metadata_keys_; }
  /// How many keys are called `__metadata__`.
  [[nodiscard]] int metadata_count() const { return metadata_count_; }

  bool number_unsigned(number_unsigned_t value) override;
  bool string(string_t& value) override;
  bool start_object(std::size_t) override;
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;

 protected:
  bool Unexpected(absl::string_view kind) override;

 private:
  enum class Place { kDocument, kTensors, kMetadata, kTensor, kShape, kOffsets };
  enum class Field { kDtype, kShape, kOffsets, kOther };

  bool FailTensor(absl::string_view message);
  bool EndTensor();
  bool Ignores() const { return place_ == Place::kTensor && field_ == Field::kOther; }

  std::vector<SafetensorsTensor> tensors_;
  std::vector<std::string> metadata_keys_;
  int metadata_count_ = 0;

  Place place_ = Place::kDocument;
  bool in_metadata_key_ = false;  // the value to come belongs to __metadata__
  // Of the tensor that is being read:
  Field field_ = Field::kOther;
  int ignored_depth_ = 0;  // how deep inside the value of a field that the format does not know
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  std::uint64_t elements_ = 1;
  bool overflow_ = false;
  int offset_count_ = 0;
};

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_SAFETENSORS_ENTRIES_H_

#ifndef EMBD_SERVER_ARCHITECTURES_INFER_MODEL_H_
#define EMBD_SERVER_ARCHITECTURES_INFER_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/server_config.h"

namespace embd::architectures {

/// A value that was found rather than given.
struct InferredValue {
  std::string key;     ///< as YAML spells it below the model, e.g. "position.learned.tensor"
  std::string value;   ///< e.g. "wpe.weight"
  std::string source;  ///< "config.json: n_positions = 1024", "model_type gpt2", "class default"

  friend bool operator==(const InferredValue&, const InferredValue&) = default;
};

/// What a model's folder says of its input stage.
struct InferredModel {
  config::ModelConfig model;                 ///< spelled out: without path and side, every table with file and tensor
  std::string architecture;                  ///< the model_type
  std::vector<InferredValue> inferred_from;  ///< one entry a key, in the order in which they were found
  std::vector<std::string> notes;            ///< what a user of the model should know
};

/// Spells out the model whose Hugging Face folder `given.path` names: a folder with `config.json` and weights as
/// .safetensors, or one of sentence-transformers with `modules.json`. What else `given` sets weighs more than what the
/// folder says, value by value; positions of the folder's kind are merged field by field, those of another kind take
/// their place.
///
/// Nothing is guessed: what the model_type, config.json and the tensors do not tell for certain is refused, and the
/// message names what to write in YAML instead.
///
/// Cost: reads config.json and headers; the rows of two tensors where both could be the table that is meant.
/// Errors (each message begins with the folder or file):
///   those of formats::Checkpoint, and
///   NOT_FOUND         [FILE_NOT_FOUND] no config.json.
///   INVALID_ARGUMENT  [INVALID_FILE] config.json or modules.json is no JSON, lacks a key that is needed or has a value
///                     of a wrong type; its sizes are not those of the tensors; two different tensors could be meant.
///   INVALID_ARGUMENT  [TENSOR_NOT_FOUND] none of the family's names for a table is there, or not the tensor named.
///   INVALID_ARGUMENT  [SIDE_NEEDED] the tables of encoder and decoder differ, and `side` does not say which.
///   INVALID_ARGUMENT  [INVALID_MODEL] `given` asks for what the model does not have, such as a side.
///   UNIMPLEMENTED     [UNSUPPORTED_ARCHITECTURE] a model_type, or a setting of it, that is not served.
[[nodiscard]] absl::StatusOr<InferredModel> InferModel(const config::ModelConfig& given);

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_INFER_MODEL_H_

#ifndef EMBD_CLIENT_BAGS_H_
#define EMBD_CLIENT_BAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "embd/client/enums.h"
#include "embd/client/input_tensor.h"
#include "embd/client/output_tensor.h"

namespace embd::client {

/// Bags of ids of one model; B is the number of row_lengths. The server checks it; nothing is checked here.
struct Bag {
  /// Name of a served model. Required.
  std::string model = {};
  /// The ids of all bags, one bag after the other; those that are the model's padding_idx count for nothing.
  std::vector<std::int64_t> ids = {};
  /// How many ids each bag has.
  std::vector<std::int64_t> row_lengths = {};
  /// One finite weight an id; empty: all 1. Not with BagMode::kMax.
  std::vector<float> weights = {};
  BagMode mode = BagMode::kMean;
  /// The version that must answer; empty: the one that is served.
  std::string model_version = {};
  /// The ids as INT32, INT64 or UINT32 in place of `ids`: (B, T), or (number of ids) with row_lengths.
  std::optional<InputTensor> ids_tensor = {};
};

/// Bags of one or many models.
struct EmbedBagsRequest {
  /// 1 to 1024.
  std::vector<Bag> bags = {};
  /// kFloat32, kFloat16 or kBfloat16.
  DataType output_type = DataType::kFloat32;
  /// Return one (B, sum of D) tensor; all of `bags` have B bags then.
  bool concatenate = false;
};

/// One vector a bag.
struct PooledBags {
  /// The model that answered each of the request's `bags`, and the checksum of each.
  std::vector<std::string> models = {};
  std::vector<std::string> checksums = {};
  /// (B, D) for each of `bags`, or the one (B, sum of D).
  std::vector<OutputTensor> embeddings = {};
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_BAGS_H_

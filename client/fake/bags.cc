#include "client/fake/bags.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/fake/lookup.h"
#include "client/fake/narrow.h"
#include "client/fake/product.h"
#include "client/fake/refusal.h"

namespace embd::client::fake {
namespace {

constexpr std::size_t kMaxBags = 1024;

using Ids = std::vector<std::int64_t>;

absl::Status TooLarge(absl::string_view reason, absl::string_view message) {
  return ErrorWithReason(absl::StatusCode::kResourceExhausted, reason, message);
}

bool Exceeds(std::int64_t value, std::int64_t limit) { return limit > 0 && value > limit; }

template <typename T>
Ids WidenIds(const std::vector<std::byte>& bytes) {
  Ids ids(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    T id;
    std::memcpy(&id, bytes.data() + i * sizeof(T), sizeof(T));
    ids[i] = static_cast<std::int64_t>(id);
  }
  return ids;
}

// A bag whose ids_tensor, if it has one, stands in `ids` and `row_lengths`.
absl::StatusOr<Bag> WithPlainIds(const Bag& bag, const ServerLimits& limits) {
  if (!bag.ids_tensor.has_value()) return bag;
  if (!bag.ids.empty()) return Invalid("INVALID_OPTION", "ids and ids_tensor exclude each other");
  const InputTensor& tensor = *bag.ids_tensor;
  const DataType type = tensor.data_type;
  if (type != DataType::kInt32 && type != DataType::kInt64 && type != DataType::kUint32) {
    return Invalid("INVALID_OPTION", absl::StrCat("ids_tensor.data_type ", DataTypeName(type), " is no type of ids"));
  }
  const std::size_t rank = bag.row_lengths.empty() ? 2 : 1;
  if (tensor.shape.size() != rank || std::ranges::min(tensor.shape) < 0) {
    return Invalid("INVALID_SHAPE", "ids_tensor.shape must be (B, T), or (number of ids) with row_lengths");
  }
  const auto bytes = Product({tensor.shape[0], rank == 2 ? tensor.shape[1] : 1, DataTypeSize(type)});
  if (bytes != static_cast<std::int64_t>(tensor.bytes.size())) {
    return Invalid("INVALID_SHAPE", "ids_tensor.data is not as long as its shape says");
  }
  if (Exceeds(tensor.shape[0], limits.max_batch_size) && rank == 2) {
    return TooLarge("REQUEST_TOO_LARGE", absl::StrCat("ids_tensor exceeds max_batch_size ", limits.max_batch_size));
  }
  Bag plain = bag;
  if (type == DataType::kInt32) plain.ids = WidenIds<std::int32_t>(tensor.bytes);
  if (type == DataType::kInt64) plain.ids = WidenIds<std::int64_t>(tensor.bytes);
  if (type == DataType::kUint32) plain.ids = WidenIds<std::uint32_t>(tensor.bytes);
  if (rank == 2) plain.row_lengths.assign(static_cast<std::size_t>(tensor.shape[0]), tensor.shape[1]);
  return plain;
}

absl::Status CheckLengths(const Bag& bag, const ServerLimits& limits) {
  if (Exceeds(static_cast<std::int64_t>(bag.row_lengths.size()), limits.max_batch_size)) {
    return TooLarge("REQUEST_TOO_LARGE", absl::StrCat("row_lengths exceeds max_batch_size ", limits.max_batch_size));
  }
  auto left = static_cast<std::int64_t>(bag.ids.size());
  for (const std::int64_t length : bag.row_lengths) {
    if (length < 0) return Invalid("INVALID_SHAPE", "row_lengths has a negative value");
    if (length > left) return Invalid("INVALID_SHAPE", "row_lengths sum to more than there are ids");
    if (Exceeds(length, limits.max_sequence_length)) {
      return TooLarge("REQUEST_TOO_LARGE",
                      absl::StrCat("row_lengths exceed max_sequence_length ", limits.max_sequence_length));
    }
    left -= length;
  }
  return left == 0 ? absl::OkStatus() : Invalid("INVALID_SHAPE", "row_lengths sum to less than there are ids");
}

absl::Status CheckWeights(const Bag& bag) {
  if (bag.weights.empty()) return absl::OkStatus();
  if (bag.mode == BagMode::kMax) return Invalid("INVALID_OPTION", "weights do not go with mode MAX");
  if (bag.weights.size() != bag.ids.size()) return Invalid("INVALID_SHAPE", "weights are not one an id");
  for (std::size_t i = 0; i < bag.weights.size(); ++i) {
    if (!std::isfinite(bag.weights[i])) {
      return Invalid("INVALID_OPTION", absl::StrCat("weights[", i, "] = ", bag.weights[i], " is not finite"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckIds(const FakeModel& model, const Bag& bag) {
  for (std::size_t i = 0; i < bag.ids.size(); ++i) {
    if (bag.ids[i] >= 0 && bag.ids[i] < VocabSize(model)) continue;
    return Invalid("ID_OUT_OF_RANGE", absl::StrCat("ids[", i, "] = ", bag.ids[i], " is outside [0, ", VocabSize(model),
                                                   ") of model \"", model.name, "\""));
  }
  return absl::OkStatus();
}

// In double, rounded once; 0 where the vector is zero.
float DivisorOf(BagMode mode, const std::vector<float>& weights) {
  double sum = 0;
  for (const float weight : weights) sum += mode == BagMode::kSqrtN ? double{weight} * double{weight} : double{weight};
  if (weights.empty()) return 0;
  if (mode == BagMode::kSum || mode == BagMode::kMax) return 1;
  return static_cast<float>(mode == BagMode::kSqrtN ? std::sqrt(sum) : sum);
}

// The vector of one bag, whose ids are no padding.
std::vector<float> PoolOne(const FakeModel& model, BagMode mode, const Ids& ids, const std::vector<float>& weights) {
  const auto dim = static_cast<std::size_t>(model.embedding_dim);
  const float divisor = DivisorOf(mode, weights);
  std::vector<float> vector(dim);
  for (std::size_t d = 0; d < dim && divisor != 0; ++d) {
    float sum = mode == BagMode::kMax ? -std::numeric_limits<float>::infinity() : 0.0f;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const float x = model.token[static_cast<std::size_t>(ids[i]) * dim + d] * model.token_scale;
      const float value = x * weights[i];
      if (mode != BagMode::kMax) {
        sum += value;
      } else if (value > sum || std::isnan(value)) {
        sum = value;
      }
    }
    vector[d] = sum / divisor;
  }
  return vector;
}

// (B, D), row after row.
std::vector<float> PoolAll(const FakeModel& model, const Bag& bag) {
  const BagMode mode = bag.mode == BagMode::kUnspecified ? BagMode::kMean : bag.mode;
  std::vector<float> vectors;
  std::size_t next = 0;
  for (const std::int64_t length : bag.row_lengths) {
    Ids ids;
    std::vector<float> weights;
    for (const std::size_t end = next + static_cast<std::size_t>(length); next < end; ++next) {
      if (bag.ids[next] == model.padding_idx) continue;
      ids.push_back(bag.ids[next]);
      weights.push_back(bag.weights.empty() ? 1.0f : bag.weights[next]);
    }
    const std::vector<float> vector = PoolOne(model, mode, ids, weights);
    vectors.insert(vectors.end(), vector.begin(), vector.end());
  }
  return vectors;
}

OutputTensor ToTensor(const std::vector<float>& values, DataType type, std::vector<std::int64_t> shape) {
  OutputTensor tensor = {.data_type = type, .shape = std::move(shape)};
  tensor.data.resize(values.size() * static_cast<std::size_t>(DataTypeSize(type)));
  Narrow(values, type, reinterpret_cast<std::byte*>(tensor.data.data()));
  return tensor;
}

// The rows of all groups side by side.
OutputTensor Concatenate(const std::vector<std::vector<float>>& groups, const Ids& dims, std::int64_t bags,
                         DataType type) {
  std::vector<float> values;
  for (std::int64_t b = 0; b < bags; ++b) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto first = groups[g].begin() + b * dims[g];
      values.insert(values.end(), first, first + dims[g]);
    }
  }
  return ToTensor(values, type, {bags, std::accumulate(dims.begin(), dims.end(), std::int64_t{0})});
}

absl::Status At(absl::string_view place, const absl::Status& status) {
  return ErrorWithReason(status.code(), ErrorReason(status), absl::StrCat(place, status.message()));
}

// Bags that a server would pool.
struct Group {
  const FakeModel* model = nullptr;
  Bag bag = {};

  [[nodiscard]] std::int64_t bags() const { return static_cast<std::int64_t>(bag.row_lengths.size()); }
};

absl::StatusOr<Group> ReadGroup(const Bag& bag, const ServerLimits& limits, const FindModel& find) {
  const auto model = find(bag.model, bag.model_version);
  if (!model.ok()) return At("model: ", model.status());
  if (bag.mode < BagMode::kUnspecified || bag.mode > BagMode::kSqrtN) {
    return Invalid("UNKNOWN_ENUM_VALUE", absl::StrCat("mode = ", static_cast<int>(bag.mode), " is unknown"));
  }
  auto plain = WithPlainIds(bag, limits);
  if (!plain.ok()) return plain.status();
  if (absl::Status status = CheckLengths(*plain, limits); !status.ok()) return status;
  if (absl::Status status = CheckWeights(*plain); !status.ok()) return status;
  if (absl::Status status = CheckIds(**model, *plain); !status.ok()) return status;
  return Group{.model = *model, .bag = *std::move(plain)};
}

absl::StatusOr<DataType> OutputType(const EmbedBagsRequest& request) {
  const DataType type = request.output_type;
  if (type == DataType::kUnspecified) return DataType::kFloat32;
  if (type > DataType::kUnspecified && type <= DataType::kBfloat16) return type;
  if (DataTypeSize(type) == 0) return Invalid("UNKNOWN_ENUM_VALUE", "output_type is unknown");
  return Invalid("INVALID_OPTION", absl::StrCat("output_type ", DataTypeName(type), " is no output type"));
}

}  // namespace

absl::StatusOr<PooledBags> PoolBags(const EmbedBagsRequest& request, const ServerLimits& limits,
                                    const FindModel& find) {
  const auto type = OutputType(request);
  if (!type.ok()) return type.status();
  if (request.bags.empty() || request.bags.size() > kMaxBags) {
    return Invalid("INVALID_OPTION", absl::StrCat("bags has ", request.bags.size(), " values"));
  }
  PooledBags result;
  std::vector<std::vector<float>> pooled;
  Ids dims;
  std::int64_t bytes = 0;
  std::int64_t bags = 0;
  for (std::size_t i = 0; i < request.bags.size(); ++i) {
    const std::string place = absl::StrCat("bags[", i, "].");
    const auto group = ReadGroup(request.bags[i], limits, find);
    if (!group.ok()) return At(place, group.status());
    if (i == 0) bags = group->bags();
    if (request.concatenate && group->bags() != bags) {
      return Invalid("INVALID_SHAPE", place + "row_lengths has another number of bags than that of bags[0]");
    }
    const FakeModel& model = *group->model;
    bytes += group->bags() * model.embedding_dim * DataTypeSize(*type);
    if (Exceeds(bytes, limits.max_response_bytes)) {
      return TooLarge("RESPONSE_TOO_LARGE", absl::StrCat("exceeds max_response_bytes ", limits.max_response_bytes));
    }
    result.models.push_back(model.name);
    result.checksums.push_back(model.checksum);
    dims.push_back(model.embedding_dim);
    pooled.push_back(PoolAll(model, group->bag));
    if (!request.concatenate) result.embeddings.push_back(ToTensor(pooled.back(), *type, {group->bags(), dims.back()}));
  }
  if (request.concatenate) result.embeddings.push_back(Concatenate(pooled, dims, bags, *type));
  return result;
}

}  // namespace embd::client::fake

#include "client/src/chunk_choice.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace embd::client {
namespace {

constexpr std::int64_t kLeastBytes = std::int64_t{512} << 10;
constexpr std::int64_t kLeastRows = 256;  // of a model of unknown width
constexpr std::size_t kMaxModels = 1024;

// Of what may be nonsense that the server has to refuse.
std::int64_t Product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (a <= 0 || b <= 0) return 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

std::int64_t Sum(const std::vector<std::int64_t>& values) {
  std::int64_t sum = 0;
  for (const std::int64_t value : values) {
    if (__builtin_add_overflow(sum, value, &sum)) return std::numeric_limits<std::int64_t>::max();
  }
  return sum;
}

}  // namespace

std::int64_t ExpectedRows(const EmbedRequest& request) {
  const std::vector<std::int64_t>& lengths = request.row_lengths;
  if (!lengths.empty()) {
    if (request.ragged_layout == RaggedLayout::kPacked) return Sum(lengths);
    const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
    return Product(static_cast<std::int64_t>(lengths.size()), std::max(longest, request.sequence_length));
  }
  if (request.inputs_embeds.has_value() && request.inputs_embeds->shape.size() == 3) {
    return Product(request.inputs_embeds->shape[0], request.inputs_embeds->shape[1]);
  }
  return Product(request.batch_size, request.sequence_length);
}

bool ChunkChoice::UseChunks(const EmbedRequest& request, const CallOptions& options) const {
  if (request.unique || request.output_target.has_value()) return false;  // which EmbedChunks does not serve
  if (options.chunks != Chunks::kAuto) return options.chunks == Chunks::kAlways;
  if (!server_has_chunks_.load(std::memory_order_relaxed)) return false;
  const std::int64_t rows = ExpectedRows(request);
  std::int64_t dim = 0;
  {
    const MutexLock lock(&mutex_);
    const auto found = dims_.find(request.model);
    if (found == dims_.end()) return rows >= kLeastRows;
    dim = found->second;
  }
  const bool narrow = request.output_type == DataType::kFloat16 || request.output_type == DataType::kBfloat16;
  return Product(rows, Product(dim, narrow ? 2 : 4)) >= kLeastBytes;
}

void ChunkChoice::Learn(const std::string& model, const EmbedInfo& info) {
  if (info.shape.empty()) return;
  const std::int64_t dim = info.shape.back();
  const MutexLock lock(&mutex_);
  const auto found = dims_.find(model);
  if (found != dims_.end()) {
    found->second = dim;
    return;
  }
  if (dims_.size() >= kMaxModels) dims_.clear();
  dims_.emplace(model, dim);
}

}  // namespace embd::client

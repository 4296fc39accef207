#ifndef EMBD_CLIENT_CLI_LOAD_BATCHES_H_
#define EMBD_CLIENT_CLI_LOAD_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "embd/client/embedding.h"

namespace embd::cli {

/// B rows of T ids.
struct BatchShape {
  std::int64_t batch_size = 0;
  std::int64_t sequence_length = 0;

  [[nodiscard]] std::int64_t ids() const { return batch_size * sequence_length; }
};

/// The most ids that a batch may have; no server takes as many.
inline constexpr std::int64_t kMostIdsOfABatch = std::int64_t{1} << 26;

/// Reads shapes such as "1x1,1x16,8x512".
///
/// Errors:
///   INVALID_ARGUMENT  a word that is no BxT of at least one id and at most kMostIdsOfABatch.
[[nodiscard]] absl::StatusOr<std::vector<BatchShape>> ParseShapes(absl::string_view text);

/// A request made ready ahead of a load, and what its answer must look like.
struct Batch {
  client::EmbedRequest request;
  std::vector<std::int64_t> reply_shape;  ///< (B, T, D)
  std::int64_t rows = 0;                  ///< B * T
  std::size_t reply_bytes = 0;
};

/// How random ids are spread over [0, V).
enum class IdsDistribution : int {
  kUniform,
  kZipf,  ///< id k with a probability in proportion to 1 / (k + 1), as words of a text by rank
};

/// What batches are made of.
struct BatchPlan {
  client::EmbedRequest request;    ///< all but ids and shape
  std::vector<BatchShape> shapes;  ///< one is drawn for each batch where there are several; not empty
  std::int64_t vocab_size = 0;
  std::int64_t embedding_dim = 0;
  IdsDistribution distribution = IdsDistribution::kUniform;
  std::uint64_t seed = 1;
  std::int64_t most_batches = 1024;               ///< of random ids
  std::int64_t most_ids = std::int64_t{1} << 20;  ///< of them together; the last batch may go beyond
};

/// Batches of random ids: each shape once, then shapes at random. The same plan gives the same batches everywhere.
/// Part::kPosition gets batches without ids.
[[nodiscard]] std::vector<Batch> RandomBatches(const BatchPlan& plan);

/// Batches of the ids of a text, cut one after the other; what is left over at the end is not used.
///
/// Errors:
///   INVALID_ARGUMENT  there are fewer ids than the first batch takes.
[[nodiscard]] absl::StatusOr<std::vector<Batch>> CutIntoBatches(std::span<const std::int64_t> ids,
                                                                const BatchPlan& plan);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_LOAD_BATCHES_H_

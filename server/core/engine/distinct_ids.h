#ifndef EMBD_SERVER_CORE_ENGINE_DISTINCT_IDS_H_
#define EMBD_SERVER_CORE_ENGINE_DISTINCT_IDS_H_

#include <cstdint>
#include <span>
#include <vector>

namespace embd::core {

/// The distinct ids of a batch and where they are: cell c has id `ids[inverse[c]]`.
struct DistinctIds {
  std::vector<std::int64_t> ids;      ///< U of them, in the order of their first cells
  std::vector<std::int64_t> inverse;  ///< one a cell, each in [0, U)
};

/// Finds them by hashing, with a secret of this process, so that no caller can choose ids that collide.
///
/// Cost: one pass over the cells; memory for two values a cell at most, besides a table of 8 to 16 bytes for each
/// distinct id, whatever ids they are.
[[nodiscard]] DistinctIds FindDistinct(std::span<const std::int64_t> ids);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_DISTINCT_IDS_H_

#include "server/core/table/seeded_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/table/normal.h"
#include "server/core/table/philox.h"

namespace embd::core {
namespace {

constexpr std::int64_t kMaxThreads = 16;
constexpr std::int64_t kBlocksWorthAThread = std::int64_t{1} << 16;
constexpr double kFarthestNormal = 8.5717;

struct Distribution {
  double mean;
  double std;
  std::uint64_t seed;
  SeedStream stream;
};

absl::Status Check(const Distribution& distribution) {
  if (!std::isfinite(distribution.mean)) {
    return InvalidArgument("INVALID_TABLE", absl::StrCat("mean must be finite, got ", distribution.mean));
  }
  if (!std::isfinite(distribution.std) || distribution.std < 0) {
    return InvalidArgument("INVALID_TABLE", absl::StrCat("std must be finite and >= 0, got ", distribution.std));
  }
  const double largest = std::fabs(distribution.mean) + kFarthestNormal * distribution.std;
  if (largest > static_cast<double>(std::numeric_limits<float>::max())) {
    return InvalidArgument("INVALID_TABLE", absl::StrCat("values of mean ", distribution.mean, " and std ",
                                                         distribution.std, " exceed float32"));
  }
  return absl::OkStatus();
}

std::int64_t ThreadsWorth(std::int64_t blocks) {
  const std::int64_t hardware = std::max(1u, std::thread::hardware_concurrency());
  return std::min({hardware, kMaxThreads, blocks / kBlocksWorthAThread + 1});
}

// Writes the elements of blocks [first, last); the last block of all may have room for one element only.
void FillBlocks(const Distribution& distribution, std::int64_t first, std::int64_t last, std::span<float> elements) {
  const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(distribution.seed),
                                            static_cast<std::uint32_t>(distribution.seed >> 32)};
  for (std::int64_t block = first; block < last; ++block) {
    const auto normals =
        StandardNormals(Philox4x32({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                                    static_cast<std::uint32_t>(distribution.stream), 0},
                                   key));
    const std::size_t begin = 2 * static_cast<std::size_t>(block);
    const std::size_t count = std::min(normals.size(), elements.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      elements[begin + i] = static_cast<float>(distribution.mean + distribution.std * normals[i]);
    }
  }
}

void FillOnThreads(const Distribution& distribution, std::int64_t threads, std::span<float> elements) {
  const auto blocks = static_cast<std::int64_t>((elements.size() + 1) / 2);
  const std::int64_t share = (blocks + threads - 1) / threads;
  std::vector<std::thread> others;
  std::int64_t first = 0;
  try {
    for (; first + share < blocks; first += share) {
      others.emplace_back(FillBlocks, distribution, first, first + share, elements);
    }
  } catch (const std::system_error&) {
    // No more threads to be had: the rest is done here.
  }
  FillBlocks(distribution, first, blocks, elements);
  for (std::thread& other : others) other.join();
}

}  // namespace

absl::StatusOr<Table> SeededTable(std::int64_t rows, std::int64_t dim, double mean, double std, std::uint64_t seed,
                                  SeedStream stream, int threads) {
  const auto bytes = TableBytes(rows, dim, ElementType::kFloat32);
  if (!bytes.ok()) return bytes.status();
  const Distribution distribution = {mean, std, seed, stream};
  if (absl::Status status = Check(distribution); !status.ok()) return status;
  auto storage = AlignedBuffer::Allocate(*bytes);
  if (!storage.ok()) return storage.status();

  const std::span<float> elements(reinterpret_cast<float*>(storage->data()), *bytes / sizeof(float));
  FillOnThreads(distribution, threads > 0 ? threads : ThreadsWorth(rows * dim / 2), elements);
  return Table::Create(rows, dim, ElementType::kFloat32, *std::move(storage));
}

}  // namespace embd::core

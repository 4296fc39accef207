#include "server/core/position/sinusoidal.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::core {
namespace {

absl::Status Check(std::int64_t rows, std::int64_t dim, double base) {
  if (rows < 1) return InvalidArgument("INVALID_TABLE", absl::StrCat("max_context_length must be >= 1, got ", rows));
  if (dim < 1) return InvalidArgument("INVALID_TABLE", absl::StrCat("embedding_dim must be >= 1, got ", dim));
  if (dim % 2 != 0) {
    return InvalidArgument("INVALID_TABLE", absl::StrCat("embedding_dim must be even for sinusoidal, got ", dim));
  }
  if (!std::isfinite(base) || base <= 0) {
    return InvalidArgument("INVALID_TABLE", absl::StrCat("base must be finite and > 0, got ", base));
  }
  // A base below 1 makes frequencies grow; the last one is the largest.
  const double last = std::pow(base, -static_cast<double>(dim - 2) / static_cast<double>(dim));
  if (!std::isfinite(static_cast<double>(rows) * last)) {
    return InvalidArgument("INVALID_TABLE", absl::StrCat("base ", base, " is too small for ", rows, " positions"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Table> SinusoidalTable(std::int64_t rows, std::int64_t dim, double base) {
  if (absl::Status status = Check(rows, dim, base); !status.ok()) return status;
  const auto bytes = TableBytes(rows, dim, ElementType::kFloat32);
  if (!bytes.ok()) return bytes.status();
  auto storage = AlignedBuffer::Allocate(*bytes);
  if (!storage.ok()) return storage.status();

  std::vector<double> frequencies;
  for (std::int64_t column = 0; column < dim; column += 2) {
    frequencies.push_back(std::pow(base, -static_cast<double>(column) / static_cast<double>(dim)));
  }
  float* out = reinterpret_cast<float*>(storage->data());
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const double frequency : frequencies) {
      const double angle = static_cast<double>(row) * frequency;
      *out++ = static_cast<float>(std::sin(angle));
      *out++ = static_cast<float>(std::cos(angle));
    }
  }
  return Table::Create(rows, dim, ElementType::kFloat32, *std::move(storage));
}

}  // namespace embd::core

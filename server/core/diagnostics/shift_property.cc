#include "server/core/diagnostics/shift_property.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/diagnostics/column_space.h"
#include "server/core/error.h"
#include "server/core/tensor/decode.h"

namespace embd::core {
namespace {

constexpr std::int64_t kElementsBetweenLooks = 65536;
constexpr std::int64_t kColumnsTogether = 16;  // of a row are decoded at a time: a cache line or two

absl::Status InvalidOption(absl::string_view message) { return InvalidArgument("INVALID_OPTION", message); }

absl::Status Cancelled() { return absl::CancelledError("the shift property was cancelled"); }

class Residuals {
 public:
  void Add(std::int64_t position, std::int64_t column, double value) {
    const double magnitude = std::abs(value);
    sum_ += magnitude * magnitude;
    ++count_;
    const bool first_nan = std::isnan(magnitude) && !std::isnan(residual_.max);
    if (!(magnitude > residual_.max) && !first_nan) return;
    residual_.max = magnitude;
    residual_.worst_position = position;
    residual_.worst_column = column;
  }

  [[nodiscard]] ShiftResidual Result() const {
    ShiftResidual result = residual_;
    if (count_ > 0) result.rms = std::sqrt(sum_ / static_cast<double>(count_));
    return result;
  }

 private:
  ShiftResidual residual_;
  double sum_ = 0;
  std::int64_t count_ = 0;
};

// Column by column, rows first … first + count - 1.
void ReadColumns(const StoredRows& rows, std::int64_t first, std::int64_t count, std::int64_t first_column,
                 std::span<double> out) {
  const std::size_t columns = out.size() / static_cast<std::size_t>(count);
  const std::size_t skipped = static_cast<std::size_t>(first_column) * ElementSize(rows.type);
  std::vector<double> part(columns);
  for (std::int64_t p = 0; p < count; ++p) {
    DecodeToDouble(rows.row(first + p) + skipped, rows.type, part);
    for (std::size_t c = 0; c < columns; ++c) {
      out[c * static_cast<std::size_t>(count) + static_cast<std::size_t>(p)] = part[c];
    }
  }
}

// Fits the columns of the later rows by all columns of the earlier ones.
class Fit {
 public:
  Fit(const StoredRows& rows, const ShiftWindow& window, const std::function<bool()>& stop)
      : rows_(rows), window_(window), stop_(stop), count_(window.rows - window.offset) {}

  absl::StatusOr<ShiftResidual> Run() {
    std::vector<double> earlier(static_cast<std::size_t>(count_ * rows_.dim));
    for (std::int64_t column = 0; column < rows_.dim; column += kColumnsTogether) {
      if (MustStop()) return Cancelled();
      ReadColumns(rows_, 0, count_, column, std::span(earlier).subspan(Size(column), Size(Together(column))));
    }
    if (!AreUsable(earlier)) return Spoilt(0, earlier);
    const std::optional<ColumnSpace> space =
        ColumnSpace::Of(std::move(earlier), static_cast<std::size_t>(count_), stop_);
    if (!space.has_value()) return Cancelled();
    return FitLater(*space);
  }

 private:
  [[nodiscard]] bool MustStop() const { return stop_ && stop_(); }
  [[nodiscard]] std::size_t Size(std::int64_t columns) const { return static_cast<std::size_t>(columns * count_); }
  [[nodiscard]] std::int64_t Together(std::int64_t column) const {
    return std::min(kColumnsTogether, rows_.dim - column);
  }

  // Whether squares can be added up.
  static bool AreUsable(std::span<const double> values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::isfinite(sum);
  }

  // What there is to say where they cannot: the cell to blame is the largest, or no number.
  [[nodiscard]] ShiftResidual Spoilt(std::int64_t first_column, std::span<const double> values) const {
    const auto worse = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : std::abs(a) < std::abs(b); };
    const auto cell = std::max_element(values.begin(), values.end(), worse) - values.begin();
    return {.max = std::numeric_limits<double>::quiet_NaN(),
            .rms = std::numeric_limits<double>::quiet_NaN(),
            .worst_position = cell % count_,
            .worst_column = first_column + cell / count_};
  }

  [[nodiscard]] absl::StatusOr<ShiftResidual> FitLater(const ColumnSpace& space) const {
    Residuals residuals;
    std::vector<double> later;
    for (std::int64_t first = 0; first < rows_.dim; first += kColumnsTogether) {
      later.resize(Size(Together(first)));
      ReadColumns(rows_, window_.offset, count_, first, later);
      if (!AreUsable(later)) return Spoilt(first, later);
      for (std::int64_t column = first; column < first + Together(first); ++column) {
        if (MustStop()) return Cancelled();
        const std::span<double> rest = std::span(later).subspan(Size(column - first), Size(1));
        space.RemoveFrom(rest);
        for (std::int64_t p = 0; p < count_; ++p) residuals.Add(p, column, rest[static_cast<std::size_t>(p)]);
      }
    }
    return residuals.Result();
  }

  const StoredRows& rows_;
  const ShiftWindow& window_;
  const std::function<bool()>& stop_;
  const std::int64_t count_;
};

}  // namespace

absl::StatusOr<ShiftWindow> ResolveShift(std::int64_t max_context_length, std::int64_t offset,
                                         std::int64_t default_rows, std::int64_t available) {
  const std::int64_t most = std::min(available, kMaxShiftPositions);
  const ShiftWindow window = {.rows = max_context_length == 0 ? default_rows : max_context_length,
                              .offset = offset == 0 ? 1 : offset};
  if (window.offset < 1) return InvalidOption(absl::StrCat("offset must be >= 1, got ", offset));
  if (window.rows < 1 || window.rows > most) {
    return InvalidOption(absl::StrCat("max_context_length must be from offset + 1 to ", most, ", got ", window.rows));
  }
  if (window.offset >= window.rows) {
    return InvalidOption(absl::StrCat("offset ", window.offset, " must be < max_context_length ", window.rows));
  }
  return window;
}

absl::StatusOr<ShiftResidual> RotationResidual(
    const std::vector<SinusoidalBand>& bands, std::int64_t dim, const ShiftWindow& window,
    absl::FunctionRef<void(std::int64_t position, std::span<double> out)> read, const std::function<bool()>& stop) {
  std::vector<double> cosines, sines;
  for (const SinusoidalBand& band : bands) {
    const double angle = static_cast<double>(window.offset) * band.frequency;
    cosines.push_back(std::cos(angle));
    sines.push_back(std::sin(angle));
  }
  std::vector<double> row(static_cast<std::size_t>(dim));
  std::vector<double> shifted(row.size());
  const std::int64_t rows_between_looks = std::max<std::int64_t>(1, kElementsBetweenLooks / dim);
  Residuals residuals;
  for (std::int64_t p = 0; p + window.offset < window.rows; ++p) {
    if (p % rows_between_looks == 0 && stop && stop()) return Cancelled();
    read(p, row);
    read(p + window.offset, shifted);
    for (std::size_t i = 0; i < bands.size(); ++i) {
      const auto s = static_cast<std::size_t>(bands[i].sine);
      const auto c = static_cast<std::size_t>(bands[i].cosine);
      residuals.Add(p, bands[i].sine, row[s] * cosines[i] + row[c] * sines[i] - shifted[s]);
      residuals.Add(p, bands[i].cosine, row[c] * cosines[i] - row[s] * sines[i] - shifted[c]);
    }
  }
  return residuals.Result();
}

absl::StatusOr<ShiftResidual> BestMapResidual(const StoredRows& rows, const ShiftWindow& window,
                                              const std::function<bool()>& stop) {
  const std::int64_t count = window.rows - window.offset;
  if (count > kMaxFittedElements / rows.dim) {
    return InvalidOption(absl::StrCat("max_context_length ", window.rows, " less offset ", window.offset,
                                      " times embedding_dim ", rows.dim, " is more than the ", kMaxFittedElements,
                                      " elements that a map is fitted to; ask for fewer positions"));
  }
  return Fit(rows, window, stop).Run();
}

}  // namespace embd::core

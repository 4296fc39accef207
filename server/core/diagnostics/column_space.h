#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_COLUMN_SPACE_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_COLUMN_SPACE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace embd::core {

/// What the columns of a matrix A can be added up to: all A·m for vectors m.
///
/// It is found by Householder reflections that take the column with the largest rest first, so that columns which
/// depend on others count for nothing: the rank ends where the largest rest is below max(rows, columns) · 2⁻⁵² times
/// that of the first. All sums are fixed_order_dot.h's, so the CPU changes no bit.
/// Ownership: owns the matrix; movable, not copyable. Thread safety: never changes after `Of`.
class ColumnSpace {
 public:
  ColumnSpace(ColumnSpace&&) = default;
  ColumnSpace& operator=(ColumnSpace&&) = default;
  ColumnSpace(const ColumnSpace&) = delete;
  ColumnSpace& operator=(const ColumnSpace&) = delete;
  ~ColumnSpace() = default;

  /// Takes over `values`: the columns of A one after the other, `rows` finite elements each. Squares of elements must
  /// not overflow. `stop`, unless empty, is asked before each reflection; where it says true, nothing is returned.
  /// Cost: 3 · rows · columns · rank multiply-adds at most.
  [[nodiscard]] static std::optional<ColumnSpace> Of(std::vector<double> values, std::size_t rows,
                                                     const std::function<bool()>& stop = nullptr);

  [[nodiscard]] std::size_t rank() const { return reflections_.size(); }

  /// Takes from `vector`, of `rows` elements, what the columns can be added up to. What is left is the error of the
  /// best m by least squares: vector - A·m. Cost: 4 · rows · rank multiply-adds at most.
  void RemoveFrom(std::span<double> vector) const;

 private:
  // x - scale · (axis · x) · axis, for elements from `first` on.
  struct Reflection {
    std::size_t first;
    std::span<const double> axis;
    double scale;

    void Apply(std::span<double> x) const;
  };

  ColumnSpace(std::vector<double> values, std::size_t rows) : values_(std::move(values)), rows_(rows) {}

  bool Factor(const std::function<bool()>& stop);
  // Makes the rest of a column an axis, of squared length `square` before.
  [[nodiscard]] static Reflection Reflect(std::span<double> rest, double square, std::size_t first);

  std::vector<double> values_;
  std::size_t rows_;
  std::vector<Reflection> reflections_;  // their axes are of values_
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_COLUMN_SPACE_H_

#ifndef EMBD_CLIENT_CLI_RENDER_ELEMENT_TEXT_H_
#define EMBD_CLIENT_CLI_RENDER_ELEMENT_TEXT_H_

#include <span>
#include <string>

#include "client/cli/files/tensor.h"

namespace embd::cli {

/// The form that all shown elements of an array share, so that its columns line up: fixed or scientific, and the widths
/// before and after the point. Chosen as numpy chooses it.
class ElementFormat {
 public:
  /// The format for the elements of `tensor` at `shown`.
  ElementFormat(TensorView tensor, std::span<const std::size_t> shown);

  /// Element `index`, padded to the common width.
  [[nodiscard]] std::string Text(std::size_t index) const;

 private:
  void ChooseFixed(std::span<const std::size_t> finite);
  void ChooseScientific(std::span<const std::size_t> finite);
  [[nodiscard]] std::string FixedText(std::size_t index) const;
  [[nodiscard]] std::string ScientificText(std::size_t index) const;
  [[nodiscard]] std::string NonFiniteText(std::size_t index) const;

  TensorView tensor_;
  bool scientific_ = false;
  int width_before_ = 0;  // of the point, with the sign; the whole width for integers
  int width_after_ = 0;   // of the point; for the scientific form with the exponent
  int precision_ = 8;     // digits after the point
  int exponent_digits_ = 0;
};

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_RENDER_ELEMENT_TEXT_H_

#ifndef EMBD_CLIENT_CLI_PLOT_PICTURE_H_
#define EMBD_CLIENT_CLI_PLOT_PICTURE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/plot/figure.h"
#include "client/cli/plot/text_layout.h"

namespace embd::cli::plot {

/// Units of a page in an inch, and so pixels of a picture that is not scaled.
inline constexpr double kUnitsPerInch = 96;

enum class PictureFormat : std::uint8_t { kSvg, kPng };

/// How a figure becomes a picture.
struct PictureOptions {
  PictureFormat format = PictureFormat::kSvg;
  double width = 800;  ///< of the page, in units of 1/96 inch
  double height = 500;
  double dpi = kUnitsPerInch;  ///< pixels an inch of a .png
};

/// Whether this build can draw: it has been built with Cairo.
[[nodiscard]] bool CanDraw();

/// How large text is when it is drawn. Only where CanDraw().
[[nodiscard]] MeasureText DrawnSize();

/// The bytes of a file with the picture of a figure. The same figure gives the same picture with the same versions of
/// Cairo and its font; an .svg has its text as outlines, and so looks the same everywhere.
///
/// Errors:
///   INVALID_ARGUMENT    the page is too small for the figure's text.
///   UNIMPLEMENTED       this build cannot draw.
///   INTERNAL            Cairo fails; with its reason.
[[nodiscard]] absl::StatusOr<std::string> Draw(const Figure& figure, const PictureOptions& options);

}  // namespace embd::cli::plot

#endif  // EMBD_CLIENT_CLI_PLOT_PICTURE_H_

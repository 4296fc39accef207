#ifndef EMBD_CLIENT_CLI_PLOT_LAYOUT_H_
#define EMBD_CLIENT_CLI_PLOT_LAYOUT_H_

#include "absl/status/statusor.h"
#include "client/cli/plot/figure.h"
#include "client/cli/plot/scene.h"
#include "client/cli/plot/text_layout.h"

namespace embd::cli::plot {

/// Turns a figure into what to draw where, on a page of that many units of 1/96 inch; see LayOutFrame for what holds of
/// its text.
///
/// Errors:
///   INVALID_ARGUMENT  the page is too small.
[[nodiscard]] absl::StatusOr<Scene> LayOut(const Figure& figure, double width, double height,
                                           const MeasureText& measure);

}  // namespace embd::cli::plot

#endif  // EMBD_CLIENT_CLI_PLOT_LAYOUT_H_

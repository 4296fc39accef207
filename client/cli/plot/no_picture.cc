// What a build without Cairo has in place of cairo_picture.cc.
#include "client/cli/plot/picture.h"

namespace embd::cli::plot {

bool CanDraw() { return false; }

MeasureText DrawnSize() {
  return [](const std::string&, const Font&) { return TextSize{}; };
}

absl::StatusOr<std::string> Draw(const Figure&, const PictureOptions&) {
  return absl::UnimplementedError("this build of embdctl cannot draw: it was built without Cairo");
}

}  // namespace embd::cli::plot

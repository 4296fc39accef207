#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <numbers>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/plot/layout.h"
#include "client/cli/plot/picture.h"

namespace embd::cli::plot {
namespace {

using SurfacePointer = std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)>;
using ContextPointer = std::unique_ptr<cairo_t, void (*)(cairo_t*)>;
using FontOptionsPointer = std::unique_ptr<cairo_font_options_t, void (*)(cairo_font_options_t*)>;

SurfacePointer Owned(cairo_surface_t* surface) { return {surface, cairo_surface_destroy}; }

absl::Status CairoStatus(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("Cairo: ", cairo_status_to_string(status)));
}

// Called by C, which no exception may pass through.
cairo_status_t Append(void* bytes, const unsigned char* data, unsigned int size) noexcept {
  try {
    static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), size);
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
  return CAIRO_STATUS_SUCCESS;
}

// Text is as wide at every scale: nothing is moved to fit pixels.
ContextPointer ContextFor(cairo_surface_t* surface) {
  ContextPointer context(cairo_create(surface), cairo_destroy);
  const FontOptionsPointer options(cairo_font_options_create(), cairo_font_options_destroy);
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(context.get(), options.get());
  return context;
}

void SetFont(cairo_t* context, const Font& font) {
  cairo_select_font_face(context, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         font.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, font.size);
}

cairo_font_extents_t LineExtents(cairo_t* context) {
  cairo_font_extents_t extents;
  cairo_font_extents(context, &extents);
  return extents;
}

// Draws the items of a scene.
class Painter {
 public:
  explicit Painter(cairo_t* context)
      : context_(context), is_vector_(cairo_surface_get_type(cairo_get_target(context)) == CAIRO_SURFACE_TYPE_SVG) {}

  void operator()(const Stroke& stroke) const {
    SetColour(stroke.colour);
    for (const Point& point : stroke.points) cairo_line_to(context_, point.x, point.y);
    cairo_set_dash(context_, stroke.dashes.data(), static_cast<int>(stroke.dashes.size()), 0);
    cairo_set_line_width(context_, stroke.width);
    cairo_set_line_join(context_, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(context_);
  }

  void operator()(const Fill& fill) const {
    SetColour(fill.colour);
    AddBox(fill.box);
    cairo_fill(context_);
  }

  void operator()(const Marker& marker) const {
    constexpr double kRadius = 4;
    SetColour(marker.colour);
    cairo_save(context_);
    cairo_translate(context_, marker.at.x, marker.at.y);
    cairo_scale(context_, kRadius, kRadius);
    const bool filled = AddShape(marker.shape);
    cairo_restore(context_);  // before the line's width is set, which the scale would change
    cairo_set_dash(context_, nullptr, 0, 0);
    cairo_set_line_width(context_, 2);
    if (filled) {
      cairo_fill(context_);
    } else {
      cairo_stroke(context_);
    }
  }

  void operator()(const Cells& cells) const {
    if (cells.colours.empty()) return;
    const int across = Repeats(cells.box.width, cells.columns);
    const int down = Repeats(cells.box.height, cells.rows());
    const int width = cells.columns * across;
    const int height = cells.rows() * down;
    const SurfacePointer image = Owned(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
    CopyColours(cells, across, down, image.get());
    cairo_save(context_);
    cairo_translate(context_, cells.box.left, cells.box.top);
    cairo_scale(context_, cells.box.width / width, cells.box.height / height);
    cairo_set_source_surface(context_, image.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(context_), CAIRO_FILTER_NEAREST);
    cairo_rectangle(context_, 0, 0, width, height);
    cairo_fill(context_);
    cairo_restore(context_);
  }

  void operator()(const Text& text) const {
    SetFont(context_, text.font);
    SetColour(kBlack);
    const double ascent = LineExtents(context_).ascent;
    cairo_save(context_);
    if (text.upwards) {
      cairo_translate(context_, text.box.left + ascent, text.box.bottom());
      cairo_rotate(context_, -std::numbers::pi / 2);
    } else {
      cairo_translate(context_, text.box.left, text.box.top + ascent);
    }
    cairo_move_to(context_, 0, 0);
    cairo_show_text(context_, text.text.c_str());
    cairo_restore(context_);
    cairo_new_path(context_);
  }

 private:
  void SetColour(Colour colour) const {
    constexpr double kMax = 255;
    const auto channel = [colour](unsigned shift) { return static_cast<double>((colour >> shift) & 0xFFU) / kMax; };
    cairo_set_source_rgb(context_, channel(16), channel(8), channel(0));
  }

  void AddBox(const Box& box) const { cairo_rectangle(context_, box.left, box.top, box.width, box.height); }

  void AddPolygon(std::initializer_list<Point> corners) const {
    for (const Point& corner : corners) cairo_line_to(context_, corner.x, corner.y);
    cairo_close_path(context_);
  }

  void AddCross(double dx, double dy) const {
    cairo_move_to(context_, -dx, -dy);
    cairo_line_to(context_, dx, dy);
    cairo_move_to(context_, dy, -dx);
    cairo_line_to(context_, -dy, dx);
  }

  // About the origin, in units of its radius. Whether it is to be filled.
  bool AddShape(MarkerShape shape) const {
    switch (shape) {
      case MarkerShape::kCircle: cairo_arc(context_, 0, 0, 0.9, 0, 2 * std::numbers::pi); return true;
      case MarkerShape::kSquare: cairo_rectangle(context_, -0.85, -0.85, 1.7, 1.7); return true;
      case MarkerShape::kTriangle: AddPolygon({{0, -1.1}, {1.1, 0.9}, {-1.1, 0.9}}); return true;
      case MarkerShape::kTriangleDown: AddPolygon({{0, 1.1}, {1.1, -0.9}, {-1.1, -0.9}}); return true;
      case MarkerShape::kDiamond: AddPolygon({{0, -1.2}, {1.2, 0}, {0, 1.2}, {-1.2, 0}}); return true;
      case MarkerShape::kCross: AddCross(0.9, 0.9); return false;
      case MarkerShape::kPlus: AddCross(1.1, 0); return false;
    }
    return false;
  }

  // How many pixels of an embedded image a cell gets along one side. Programs that show an .svg smooth images, so cells
  // need pixels enough there to have sharp edges; a .png has all pixels that will be.
  [[nodiscard]] int Repeats(double length, int cells) const {
    constexpr double kPixelsPerUnit = 2;
    return is_vector_ ? std::max(1, static_cast<int>(length * kPixelsPerUnit / cells)) : 1;
  }

  static void CopyColours(const Cells& cells, int across, int down, cairo_surface_t* image) {
    unsigned char* pixels = cairo_image_surface_get_data(image);
    if (pixels == nullptr) return;  // the surface has failed, and so will the context that it becomes a source of
    const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(image));
    std::vector<Colour> line(static_cast<std::size_t>(cells.columns) * static_cast<std::size_t>(across));
    auto cell = cells.colours.begin();
    for (int row = 0; row < cells.rows(); ++row) {
      for (auto at = line.begin(); at != line.end(); at += across) std::fill_n(at, across, *cell++);
      for (int i = 0; i < down; ++i, pixels += stride) {
        std::memcpy(pixels, line.data(), line.size() * sizeof(Colour));
      }
    }
    cairo_surface_mark_dirty(image);
  }

  cairo_t* context_;
  bool is_vector_;
};

absl::Status Paint(const Scene& scene, double scale, cairo_surface_t* surface) {
  const ContextPointer context = ContextFor(surface);
  cairo_scale(context.get(), scale, scale);
  const Painter painter(context.get());
  for (const auto& item : scene.items) std::visit(painter, item);
  return CairoStatus(cairo_status(context.get()));
}

absl::StatusOr<std::string> PaintSvg(const Scene& scene) {
  std::string bytes;
  const SurfacePointer surface = Owned(cairo_svg_surface_create_for_stream(Append, &bytes, scene.width, scene.height));
  cairo_svg_surface_set_document_unit(surface.get(), CAIRO_SVG_UNIT_PX);
  if (absl::Status status = Paint(scene, 1, surface.get()); !status.ok()) return status;
  cairo_surface_finish(surface.get());
  if (absl::Status status = CairoStatus(cairo_surface_status(surface.get())); !status.ok()) return status;
  return bytes;
}

absl::StatusOr<std::string> PaintPng(const Scene& scene, double scale) {
  const auto pixels = [scale](double units) { return static_cast<int>(std::lround(units * scale)); };
  const SurfacePointer surface =
      Owned(cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(scene.width), pixels(scene.height)));
  if (absl::Status status = Paint(scene, scale, surface.get()); !status.ok()) return status;
  std::string bytes;
  if (absl::Status status = CairoStatus(cairo_surface_write_to_png_stream(surface.get(), Append, &bytes));
      !status.ok()) {
    return status;
  }
  return bytes;
}

}  // namespace

bool CanDraw() { return true; }

MeasureText DrawnSize() {
  const SurfacePointer surface = Owned(cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1));
  const std::shared_ptr<cairo_t> context = ContextFor(surface.get());
  return [context](const std::string& text, const Font& font) {
    SetFont(context.get(), font);
    cairo_text_extents_t extents;
    cairo_text_extents(context.get(), text.c_str(), &extents);
    const cairo_font_extents_t line = LineExtents(context.get());
    return TextSize{.width = extents.x_advance, .height = line.ascent + line.descent};
  };
}

absl::StatusOr<std::string> Draw(const Figure& figure, const PictureOptions& options) {
  const absl::StatusOr<Scene> scene = LayOut(figure, options.width, options.height, DrawnSize());
  if (!scene.ok()) return scene.status();
  if (options.format == PictureFormat::kSvg) return PaintSvg(*scene);
  return PaintPng(*scene, options.dpi / kUnitsPerInch);
}

}  // namespace embd::cli::plot

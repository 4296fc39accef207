#include "client/cli/render/array_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/render/element_text.h"

namespace embd::cli {
namespace {

constexpr std::int64_t kEdgeItems = 3;
constexpr std::size_t kMaxElementsInFull = 1000;
constexpr std::size_t kLineWidth = 75;

// Lays out what is shown of an array, extent by extent.
class ArrayPrinter {
 public:
  explicit ArrayPrinter(TensorView tensor)
      : tensor_(tensor), shortened_(tensor.size() > kMaxElementsInFull), format_(tensor, Shown()) {}

  std::string Text() const { return Nested(0, 0, " ", kLineWidth); }

 private:
  // The positions shown along an extent; -1 stands for those left out.
  std::vector<std::int64_t> ShownAlong(std::int64_t extent) const {
    std::vector<std::int64_t> positions;
    const bool cut = shortened_ && extent > 2 * kEdgeItems;
    for (std::int64_t i = 0; i < extent; ++i) {
      if (cut && i == kEdgeItems) {
        positions.push_back(-1);
        i = extent - kEdgeItems;
      }
      positions.push_back(i);
    }
    return positions;
  }

  std::size_t Index(std::size_t begin, std::size_t axis, std::int64_t position) const {
    return begin * static_cast<std::size_t>(tensor_.shape[axis]) + static_cast<std::size_t>(position);
  }

  std::vector<std::size_t> Shown() const {
    std::vector<std::size_t> shown = {0};
    for (std::size_t axis = 0; axis < tensor_.shape.size(); ++axis) {
      std::vector<std::size_t> deeper;
      for (const std::size_t begin : shown) {
        for (const std::int64_t position : ShownAlong(tensor_.shape[axis])) {
          if (position >= 0) deeper.push_back(Index(begin, axis, position));
        }
      }
      shown = std::move(deeper);
    }
    return shown;
  }

  // The part at index `begin` of the extents before `axis`; lines after its first begin with `indent`.
  std::string Nested(std::size_t axis, std::size_t begin, const std::string& indent, std::size_t width) const {
    if (axis == tensor_.shape.size()) return format_.Text(begin);
    const std::string body =
        axis + 1 == tensor_.shape.size() ? Row(axis, begin, indent, width) : Blocks(axis, begin, indent, width);
    return absl::StrCat("[", body.substr(indent.size()), "]");
  }

  std::string Blocks(std::size_t axis, std::size_t begin, const std::string& indent, std::size_t width) const {
    std::vector<std::string> parts;
    for (const std::int64_t position : ShownAlong(tensor_.shape[axis])) {
      const std::string part =
          position < 0 ? "..." : Nested(axis + 1, Index(begin, axis, position), indent + ' ', width - 1);
      parts.push_back(absl::StrCat(indent, part));
    }
    return absl::StrJoin(parts, std::string(tensor_.shape.size() - axis - 1, '\n'));
  }

  std::string Row(std::size_t axis, std::size_t begin, const std::string& indent, std::size_t width) const {
    std::string lines;
    std::string line = indent;
    for (const std::int64_t position : ShownAlong(tensor_.shape[axis])) {
      const std::string word = position < 0 ? "..." : format_.Text(Index(begin, axis, position));
      if (line.size() > indent.size()) {
        // The closing bracket must still find room behind the word.
        if (line.size() + 1 + word.size() > width - 1) {
          lines += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
          line = indent;
        } else {
          line += ' ';
        }
      }
      line += word;
    }
    return lines + line;
  }

  TensorView tensor_;
  bool shortened_;
  ElementFormat format_;
};

}  // namespace

std::string ArrayText(TensorView tensor) {
  if (tensor.bytes.empty()) return "[]";
  return ArrayPrinter(tensor).Text();
}

std::string ArrayHeading(absl::string_view name, TensorView tensor) {
  return absl::StrCat(name, " ", ShapeText(tensor.shape), " ", Name(tensor.type));
}

std::string ShapeText(std::span<const std::int64_t> shape) {
  return absl::StrCat("(", absl::StrJoin(shape, ", "), shape.size() == 1 ? ",)" : ")");
}

}  // namespace embd::cli

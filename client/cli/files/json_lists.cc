#include "client/cli/files/json_lists.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/files/number_text.h"

namespace embd::cli {
namespace {

constexpr std::size_t kMaxDepth = 8;

// Reads numbers in nested lists and finds the extents on the way. A list of lists is only a loop over open lists here,
// so that no input can exhaust the stack.
class ListReader {
 public:
  ListReader(absl::string_view text, DataType type) : text_(text), tensor_{.type = type, .shape = {}, .bytes = {}} {}

  absl::StatusOr<Tensor> Read() && {
    do {
      if (absl::Status status = ReadItem(); !status.ok()) return status;
      if (absl::Status status = CloseLists(); !status.ok()) return status;
    } while (!open_counts_.empty());
    SkipBlanks();
    if (at_ != text_.size()) return Error(at_, "expected the end of the text");
    tensor_.shape = std::move(extents_);
    return std::move(tensor_);
  }

 private:
  absl::Status Error(std::size_t at, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("byte ", at, ": ", what));
  }

  void SkipBlanks() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  bool Take(char wanted) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  // Opens lists down to a number, or to a list without elements.
  absl::Status ReadItem() {
    while (Take('[')) {
      if (open_counts_.size() == kMaxDepth) return Error(at_ - 1, absl::StrCat("lists nest deeper than ", kMaxDepth));
      open_counts_.push_back(0);
      SkipBlanks();
      if (at_ < text_.size() && text_[at_] == ']') return FixDepth(at_);
    }
    return ReadNumber();
  }

  absl::Status ReadNumber() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (absl::ascii_isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-' ||
                                  text_[at_] == '+' || text_[at_] == '.')) {
      ++at_;
    }
    if (at_ == begin) return Error(begin, "expected a number or '['");
    if (absl::Status status = FixDepth(begin); !status.ok()) return status;
    const absl::Status status = AppendParsed(text_.substr(begin, at_ - begin), tensor_.type, tensor_.bytes);
    if (!status.ok()) return Error(begin, status.message());
    if (!open_counts_.empty()) ++open_counts_.back();
    return absl::OkStatus();
  }

  // All numbers, and all lists without elements, lie equally deep.
  absl::Status FixDepth(std::size_t at) {
    if (!depth_known_) {
      depth_known_ = true;
      extents_.assign(open_counts_.size(), -1);
    }
    if (open_counts_.size() != extents_.size()) {
      return Error(at, absl::StrCat("lists nest ", open_counts_.size(), " deep here, ", extents_.size(), " before"));
    }
    return absl::OkStatus();
  }

  // Closes lists that end here, up to one that goes on.
  absl::Status CloseLists() {
    while (!open_counts_.empty()) {
      if (open_counts_.back() > 0 && Take(',')) return absl::OkStatus();
      const std::size_t at = at_;
      if (!Take(']')) return Error(at_, "expected ',' or ']'");
      std::int64_t& extent = extents_[open_counts_.size() - 1];
      if (extent < 0) extent = open_counts_.back();
      if (extent != open_counts_.back()) {
        return Error(at, absl::StrCat("a list of ", open_counts_.back(), " ends beside lists of ", extent));
      }
      open_counts_.pop_back();
      if (!open_counts_.empty()) ++open_counts_.back();
    }
    return absl::OkStatus();
  }

  absl::string_view text_;
  Tensor tensor_;
  std::size_t at_ = 0;
  std::vector<std::int64_t> open_counts_;  // elements so far of each list that is open, outermost first
  std::vector<std::int64_t> extents_;      // -1 until a list of that depth has ended
  bool depth_known_ = false;
};

// Gathers text in blocks, so that neither a stream call a number nor the whole text in memory is paid for.
class BlockWriter {
 public:
  explicit BlockWriter(std::ostream& out) : out_(out) {}

  void Element(TensorView tensor, std::size_t index) { AppendNumber(tensor, index, NonFinite::kJson, block_); }
  void Text(absl::string_view text) { absl::StrAppend(&block_, text); }
  // Returns whether the stream still takes text.
  bool FlushWhenFull() { return block_.size() < kBlockBytes || Flush(); }
  bool Flush() {
    out_ << block_;
    block_.clear();
    return out_.good();
  }

 private:
  static constexpr std::size_t kBlockBytes = 64 << 10;
  std::ostream& out_;
  std::string block_;
};

// Writes the part of the tensor below `depth` that begins at element `index`; returns the element after it.
std::size_t WriteLists(TensorView tensor, std::size_t depth, std::size_t index, BlockWriter& writer) {
  if (depth == tensor.shape.size()) {
    writer.Element(tensor, index);
    return index + 1;
  }
  writer.Text("[");
  for (std::int64_t i = 0; i < tensor.shape[depth]; ++i) {
    if (i > 0) writer.Text(", ");
    index = WriteLists(tensor, depth + 1, index, writer);
    if (!writer.FlushWhenFull()) return index;
  }
  writer.Text("]");
  return index;
}

}  // namespace

absl::StatusOr<Tensor> ParseJsonLists(absl::string_view text, DataType type) {
  absl::StatusOr<Tensor> tensor = ListReader(text, type).Read();
  if (tensor.ok() && tensor->shape.empty()) return absl::InvalidArgumentError("byte 0: expected '['");
  return tensor;
}

absl::StatusOr<Tensor> ParseJsonLines(absl::string_view text, DataType type) {
  Tensor tensor{.type = type, .shape = {0}, .bytes = {}};
  std::int64_t line_number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    absl::StatusOr<Tensor> row = ListReader(line, type).Read();
    if (!row.ok()) return absl::InvalidArgumentError(absl::StrCat("line ", line_number, ", ", row.status().message()));
    if (tensor.shape[0] == 0) tensor.shape.insert(tensor.shape.end(), row->shape.begin(), row->shape.end());
    if (!std::equal(row->shape.begin(), row->shape.end(), tensor.shape.begin() + 1, tensor.shape.end())) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line_number, ": its lists are not as long as those before"));
    }
    tensor.bytes.insert(tensor.bytes.end(), row->bytes.begin(), row->bytes.end());
    ++tensor.shape[0];
  }
  if (tensor.shape[0] == 0) return absl::InvalidArgumentError("no lists found");
  return tensor;
}

void WriteJsonLists(TensorView tensor, std::ostream& out) {
  BlockWriter writer(out);
  WriteLists(tensor, 0, 0, writer);
  writer.Flush();
}

void WriteJsonLines(TensorView tensor, std::ostream& out) {
  BlockWriter writer(out);
  const std::int64_t lines = tensor.shape.empty() ? 1 : tensor.shape.front();
  std::size_t index = 0;
  for (std::int64_t line = 0; line < lines && out.good(); ++line) {
    index = WriteLists(tensor, tensor.shape.empty() ? 0 : 1, index, writer);
    writer.Text("\n");
    writer.FlushWhenFull();
  }
  writer.Flush();
}

}  // namespace embd::cli

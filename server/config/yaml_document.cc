// The one file that sees yaml-cpp, and the one where exceptions are thrown and caught.
#include "server/config/yaml_document.h"

#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/config/config_error.h"
#include "server/config/text_fault.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/parser.h"

namespace embd::config {
namespace {

using NodePtr = std::shared_ptr<const Node>;

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxNodes = 1'000'000;

/// Thrown through yaml-cpp's parser, which offers no other way to stop.
struct Refused {
  int line;
  std::string message;
};

/// The parser's reasons may end in any single byte of the text.
std::string Printable(absl::string_view reason) {
  std::string printable;
  for (const char c : reason) {
    if (absl::ascii_isprint(static_cast<unsigned char>(c))) {
      printable += c;
    } else {
      absl::StrAppend(&printable, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return printable;
}

/// `text` as UTF-8: yaml-cpp 0.7 gives the escapes \N (U+0085) and \_ (U+00A0) as one byte each, all else as it must.
std::string AsUtf8(const std::string& text) {
  std::string utf8;
  for (absl::string_view left = text; !left.empty();) {
    std::size_t length = CharacterLength(left);
    if (length == 0) {
      utf8 += '\xC2';
      length = 1;
    }
    utf8.append(left.data(), length);
    left.remove_prefix(length);
  }
  return utf8;
}

int LineOf(const YAML::Mark& mark) { return mark.line + 1; }

/// The parser marks an empty value where the next one begins; the line of its key says more.
NodePtr NothingOn(int line) {
  auto node = std::make_shared<Node>();
  node->line = line;
  return node;
}

/// Builds the tree from the parser's events. yaml-cpp's own tree would hide repeated keys and the difference between an
/// absent and an empty value, and would let an alias contain itself.
class TreeBuilder final : public YAML::EventHandler {
 public:
  const NodePtr& root() const { return root_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw Refused{LineOf(mark), "must be one document, got a second one"};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(NewNode(Node::Kind::kNothing, mark, ""), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    auto node = NewNode(Node::Kind::kScalar, mark, tag);
    node->text = AsUtf8(text);
    node->quoted = tag == "!";
    Add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Refused{LineOf(mark), "an alias stands within its own anchor"};
    Attach(found->second, LineOf(mark));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(NewNode(Node::Kind::kList, mark, tag), anchor);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(NewNode(Node::Kind::kMap, mark, tag), anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Unfinished {
    std::shared_ptr<Node> node;
    YAML::anchor_t anchor;
    std::optional<Node::Entry> entry;  ///< of a map: the key that waits for its value
  };

  std::shared_ptr<Node> NewNode(Node::Kind kind, const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw Refused{LineOf(mark), absl::StrCat("tags are not allowed, got ", Quote(tag))};
    }
    if (++nodes_ > kMaxNodes) throw Refused{LineOf(mark), absl::StrCat("more than ", kMaxNodes, " values")};
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->line = LineOf(mark);
    return node;
  }

  void Open(std::shared_ptr<Node> node, YAML::anchor_t anchor) {
    if (open_.size() >= kMaxDepth) {
      throw Refused{node->line, absl::StrCat("nested more than ", kMaxDepth, " levels deep")};
    }
    open_.push_back({std::move(node), anchor, std::nullopt});
  }

  void Close() {
    Unfinished closed = std::move(open_.back());
    open_.pop_back();
    Add(std::move(closed.node), closed.anchor);
  }

  // An anchor is known only once its node is complete, which keeps cycles out.
  void Add(NodePtr node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    const int line = node->line;
    Attach(std::move(node), line);
  }

  void Attach(NodePtr node, int line) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Unfinished& parent = open_.back();
    if (parent.node->kind == Node::Kind::kList) {
      parent.node->items.push_back(std::move(node));
    } else if (parent.entry.has_value()) {
      parent.entry->value = node->kind == Node::Kind::kNothing ? NothingOn(parent.entry->line) : std::move(node);
      parent.node->entries.push_back(*std::exchange(parent.entry, std::nullopt));
    } else if (node->kind == Node::Kind::kScalar) {
      parent.entry = Node::Entry{node->text, line, nullptr};
    } else {
      throw Refused{line, "a key must be a word"};
    }
  }

  NodePtr root_ = std::make_shared<Node>();
  std::vector<Unfinished> open_;
  std::map<YAML::anchor_t, NodePtr> anchors_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

}  // namespace

absl::StatusOr<NodePtr> ParseDocument(absl::string_view text, const std::string& file_name) {
  if (text.size() > kMaxFileBytes) {
    return InvalidConfig(absl::StrCat(file_name, ": must be at most ", kMaxFileBytes >> 20, " MiB"));
  }
  if (const auto fault = FindTextFault(text); fault.has_value()) {
    return InvalidConfig(absl::StrCat(file_name, ":", fault->line, ": ", fault->message));
  }
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.root();
  } catch (const Refused& refused) {
    return InvalidConfig(absl::StrCat(file_name, ":", refused.line, ": ", refused.message));
  } catch (const YAML::Exception& error) {
    return InvalidConfig(absl::StrCat(file_name, ":", LineOf(error.mark), ":", error.mark.column + 1,
                                      ": bad YAML: ", Printable(error.msg)));
  } catch (const std::exception& error) {
    return InvalidConfig(absl::StrCat(file_name, ": cannot be parsed: ", error.what()));
  }
}

}  // namespace embd::config

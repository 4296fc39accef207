#ifndef EMBD_SERVER_CONFIG_MAP_READER_H_
#define EMBD_SERVER_CONFIG_MAP_READER_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/config/config_error.h"
#include "server/config/keys.h"
#include "server/config/yaml_document.h"

namespace embd::config {

/// Integers from `min` to `max`.
struct IntegerRange {
  std::int64_t min = 1;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

/// Finite numbers from `min` to `max`, or above `min` where `min` itself is not allowed.
struct NumberRange {
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
  bool above_min = false;
};
inline constexpr NumberRange kPositiveNumber = {
    .min = 0.0, .max = std::numeric_limits<double>::max(), .above_min = true};

/// What stands there, for the end of a message: `"x"`, `"1" in quotes`, `a list`, `a map` or `nothing`.
[[nodiscard]] std::string Found(const Node& node);

/// Reads one map of a document key by key. What is wrong goes to `errors`, with line and key path; the value that was
/// to be read is then left as it was.
///
/// Ownership: refers to the node and to `errors`, which must outlive it.
/// Thread safety: not thread-safe.
class MapReader {
 public:
  /// `path` is the map's key path in this file ("models[3].token"; "" for the whole file). A node that is no map, a key
  /// that `section` does not know and a key that stands there twice are reported.
  MapReader(const Node& node, std::string path, Section section, FirstError& errors);

  /// The value of `key`, which must be one of the section's; nullptr where it is not given.
  [[nodiscard]] const Node* Find(absl::string_view key) const;
  [[nodiscard]] bool Has(absl::string_view key) const { return Find(key) != nullptr; }

  /// Reports a `key` that is not given.
  void Require(absl::string_view key);

  // Each reads the value of `key` into `out`, or leaves `out` alone where the key is not given.

  /// Any scalar as it is written; not empty, without NUL.
  void ReadString(absl::string_view key, std::string& out);
  void ReadInteger(absl::string_view key, IntegerRange range, std::int64_t& out);
  /// 0 to 2^64 - 1.
  void ReadUnsigned(absl::string_view key, std::uint64_t& out);
  void ReadNumber(absl::string_view key, NumberRange range, double& out);
  /// A list of numbers.
  void ReadNumbers(absl::string_view key, NumberRange range, std::vector<double>& out);
  /// true or false.
  void ReadBool(absl::string_view key, bool& out);
  /// A byte size of 1 to `max`.
  void ReadByteSize(absl::string_view key, std::int64_t max, std::int64_t& out);
  /// A duration of so many seconds.
  void ReadSeconds(absl::string_view key, NumberRange range, double& out);

  /// A reader of the map at `key`; nothing where the key is not given.
  [[nodiscard]] std::optional<MapReader> ReadMap(absl::string_view key, Section section);

  /// Reports something about the value of `key`, or about the whole map.
  void Report(absl::string_view key, absl::string_view message);
  void Report(absl::string_view message);

  [[nodiscard]] std::string PathOf(absl::string_view key) const;
  /// The line where the value of `key` stands, else that of the map.
  [[nodiscard]] int LineOf(absl::string_view key) const;
  [[nodiscard]] FirstError& errors() const { return *errors_; }

 private:
  /// The scalar at `key`, reporting anything else; nullptr where there is none to read.
  const Node* FindScalar(absl::string_view key, absl::string_view expected);
  void CheckKeys(Section section);

  const Node* node_;
  std::string path_;
  FirstError* errors_;
};

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_MAP_READER_H_

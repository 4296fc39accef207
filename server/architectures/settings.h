#ifndef EMBD_SERVER_ARCHITECTURES_SETTINGS_H_
#define EMBD_SERVER_ARCHITECTURES_SETTINGS_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/architectures/fault.h"

namespace embd::architectures {

/// A value and what says so.
template <typename T>
struct Sourced {
  T value;
  std::string source;
};

/// What an absent key means to the libraries' configuration classes.
inline constexpr char kClassDefault[] = "class default";

/// Names of one setting, the one that weighs most first.
using Keys = std::initializer_list<absl::string_view>;

/// A key of a file as a part of a path in a message: quoted, escaped and cut where it is more than a short word.
[[nodiscard]] std::string KeyText(absl::string_view key);

/// One object of config.json, or of a GGUF file's metadata, read strictly: a value of a wrong type is reported with its
/// key.
///
/// A key that is null counts as absent where absence is told by nullopt, and is reported where there is a default,
/// which null is not.
///
/// Ownership: refers to the JSON value and to the fault. Thread safety: not thread-safe.
class Settings {
 public:
  /// `prefix` stands before keys in messages: "config.json: ", or "config.json: text_config." and the like.
  Settings(const nlohmann::json& object, std::string prefix, Fault* fault)
      : object_(&object), prefix_(std::move(prefix)), fault_(fault) {}

  /// Whether the key is there and not null.
  [[nodiscard]] bool Has(absl::string_view key) const;
  [[nodiscard]] bool IsNull(absl::string_view key) const;
  /// Whether the key is there and holds an object.
  [[nodiscard]] bool HasObject(absl::string_view key) const;
  [[nodiscard]] std::vector<std::string> KeyNames() const;

  /// Integers from `min` on.
  [[nodiscard]] std::optional<Sourced<std::int64_t>> Integer(absl::string_view key, std::int64_t min = 1) const;
  [[nodiscard]] Sourced<std::int64_t> IntegerOr(Keys keys, std::int64_t fallback, std::int64_t min = 1) const;
  /// Finite numbers, with or without a fraction.
  [[nodiscard]] std::optional<Sourced<double>> Number(absl::string_view key) const;
  [[nodiscard]] Sourced<double> NumberOr(Keys keys, double fallback) const;
  [[nodiscard]] std::optional<Sourced<bool>> Flag(absl::string_view key) const;
  [[nodiscard]] Sourced<bool> FlagOr(absl::string_view key, bool fallback) const;
  [[nodiscard]] std::optional<Sourced<std::string>> Text(absl::string_view key) const;
  [[nodiscard]] std::vector<double> Numbers(absl::string_view key) const;
  [[nodiscard]] std::optional<Settings> Object(absl::string_view key) const;

  /// "config.json: text_config.KEY".
  [[nodiscard]] std::string Place(absl::string_view key) const;
  /// "config.json: KEY = VALUE", with the value as it stands there.
  [[nodiscard]] std::string Source(absl::string_view key) const;

 private:
  [[nodiscard]] const nlohmann::json* Find(absl::string_view key) const;
  void ReportType(absl::string_view key, absl::string_view wanted) const;
  // The first of the keys that is there, null or not; empty: none.
  [[nodiscard]] absl::string_view FirstOf(Keys keys) const;

  const nlohmann::json* object_;
  std::string prefix_;
  Fault* fault_;
};

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_SETTINGS_H_

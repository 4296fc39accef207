#ifndef EMBD_SERVER_FORMATS_JSON_READER_H_
#define EMBD_SERVER_FORMATS_JSON_READER_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace embd::formats {

/// Receives a JSON text piece by piece, so that duplicate keys are seen and no tree is built.
///
/// Subclasses override what they expect, and end the parse with `return Fail(…)`. A value of a kind that is not
/// overridden goes to `Unexpected`.
class JsonHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return Unexpected("null"); }
  bool boolean(bool) override { return Unexpected("true or false"); }
  bool number_integer(number_integer_t) override { return Unexpected("a negative number"); }
  bool number_unsigned(number_unsigned_t) override { return Unexpected("a number"); }
  bool number_float(number_float_t, const string_t&) override { return Unexpected("a number with a fraction"); }
  bool string(string_t&) override { return Unexpected("a string"); }
  bool binary(binary_t&) override { return Unexpected("bytes"); }
  bool start_object(std::size_t) override { return Unexpected("an object"); }
  bool key(string_t&) override { return Unexpected("a key"); }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return Unexpected("an array"); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override;

 protected:
  /// A value that no override took. Returns whether to go on.
  virtual bool Unexpected(absl::string_view kind) = 0;
  /// Ends the parse with INVALID_ARGUMENT [INVALID_FILE]; returns false.
  bool Fail(absl::string_view message);

 private:
  friend absl::Status ParseJson(absl::string_view text, std::uint64_t offset, JsonHandler& handler);

  absl::Status status_;
  std::uint64_t offset_ = 0;
};

/// Parses `text`, which must be one JSON value and white space around it, in UTF-8. Nesting costs no stack.
///
/// `offset` is the place of `text` in the file, for messages.
/// Errors:
///   INVALID_ARGUMENT  [INVALID_FILE] not JSON, with the byte; or what the handler did not like.
[[nodiscard]] absl::Status ParseJson(absl::string_view text, std::uint64_t offset, JsonHandler& handler);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_JSON_READER_H_

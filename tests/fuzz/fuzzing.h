#ifndef EMBD_TESTS_FUZZ_FUZZING_H_
#define EMBD_TESTS_FUZZ_FUZZING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/formats/load_table.h"

// What the fuzzers have in common. Each is a source with libFuzzer's entry, `LLVMFuzzerTestOneInput`, that ends the
// program where something does not hold; replay.cc runs the seeds of the tree through the same entry.

/// libFuzzer's entry: https://llvm.org/docs/LibFuzzer.html. Returns 0, or -1 for an input not worth keeping.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace embd::fuzz {

/// Says what does not hold, and ends the program, so that the input is kept.
[[noreturn]] void Fail(absl::string_view what);

inline absl::string_view Text(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// An error that a user can work with: a reason, and a message that begins with `begin`, is valid UTF-8 of at most
/// 4 KiB and holds no control character. Never INTERNAL or UNKNOWN.
void CheckRefusal(const absl::Status& status, absl::string_view begin);

/// What a user may read: valid UTF-8 of at most 4 KiB without control characters.
void CheckText(absl::string_view message);

/// Checks the refusal, or that the table is whole: its size, its checksum, its NaNs and its words.
void CheckLoaded(const absl::StatusOr<formats::LoadedTable>& loaded, absl::string_view path);

/// Loads a table with at most 64 MiB. Never throws.
[[nodiscard]] absl::StatusOr<formats::LoadedTable> Load(const formats::TableRequest& request);

/// A file of that name in a temporary folder of this process, written anew for each input; both are gone at the
/// process's end.
class InputFile {
 public:
  explicit InputFile(const std::string& name) : InputFile(name, "") {}
  /// The same in a folder that is there; empty: in a new one.
  InputFile(const std::string& name, const std::string& folder);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  /// Replaces what the file holds by `bytes` and `zeros` zero bytes.
  void Write(absl::string_view bytes, std::uint64_t zeros = 0);
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  std::string path_;
  int file_ = -1;
};

/// Decisions taken from the front of an input; zeros where it has ended. What is left is `rest`.
class Choices {
 public:
  explicit Choices(absl::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t Number(std::size_t bytes);
  [[nodiscard]] std::uint64_t Below(std::uint64_t count) { return Number(count > 256 ? 4 : 1) % count; }
  [[nodiscard]] bool Yes() { return (Number(1) & 1) != 0; }
  /// The next bytes, their count (at most 255) before them.
  [[nodiscard]] absl::string_view ShortText();
  [[nodiscard]] absl::string_view rest() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  absl::string_view bytes_;
};

}  // namespace embd::fuzz

#endif  // EMBD_TESTS_FUZZ_FUZZING_H_

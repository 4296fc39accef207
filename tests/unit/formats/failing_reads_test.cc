// Whichever read of a file fails, its loader tells so: the system's error, or the place where the file ends now.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/checkpoint_index.h"
#include "server/formats/gguf.h"
#include "server/formats/npy.h"
#include "server/formats/out_of_memory.h"
#include "server/formats/raw.h"
#include "server/formats/safetensors.h"
#include "server/formats/vocabulary_file.h"
#include "server/formats/word_vectors.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/gguf_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::atomic<int> reads_left = 0;

ssize_t FailingPread(int descriptor, void* out, std::size_t size, off_t offset) {
  if (reads_left-- > 0) return pread(descriptor, out, size, offset);
  errno = EIO;
  return -1;
}

ssize_t EndingPread(int descriptor, void* out, std::size_t size, off_t offset) {
  return reads_left-- > 0 ? pread(descriptor, out, size, offset) : 0;
}

struct Loader {
  std::string name;
  std::string bytes;
  absl::Status (*load)(const FileReader& file);
  int reads;  // that there are
};
void PrintTo(const Loader& loader, std::ostream* out) { *out << loader.name; }

class FailingRead : public ::testing::TestWithParam<Loader> {
 protected:
  // Lets one read more succeed each time, until all do; every status but the last must match.
  template <typename Matcher>
  void ExpectEveryFailure(FileReader::PreadFunction pread, const Matcher& matcher) {
    const ScratchFolder folder;
    const std::string path = folder.Write("file", GetParam().bytes);
    for (int reads = 0; reads <= GetParam().reads; ++reads) {
      SCOPED_TRACE(absl::StrCat("read ", reads + 1));
      ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(path, pread));
      reads_left = reads;

      const absl::Status status = GetParam().load(file);

      if (reads == GetParam().reads) {
        EXPECT_THAT(status, ::embd::testing::IsOk());
      } else {
        EXPECT_THAT(status, AllOf(StatusIs(absl::StatusCode::kInvalidArgument, matcher), ReasonIs("INVALID_FILE")));
      }
    }
  }
};

TEST_P(FailingRead, IsToldWithItsByte) {
  ExpectEveryFailure(FailingPread, AllOf(StartsWith("byte "), HasSubstr(": cannot be read: Input/output error")));
}

TEST_P(FailingRead, OfAFileThatHasBecomeShorterIsTold) {
  ExpectEveryFailure(EndingPread, AllOf(StartsWith("byte "), HasSubstr(": the file ends here, it had ")));
}

absl::Status Npy(const FileReader& file) { return LoadNpy(file).status(); }
absl::Status Gguf(const FileReader& file) { return LoadGguf(file, "").status(); }

std::string Matrix(const std::string& descr, bool fortran_order) {
  return NpyFile(NpyDict(descr, "(2, 3)", fortran_order), std::string(24, '\1'));
}

// Metadata that takes more than a cursor reads at once, and a tensor of 32 elements.
std::string GgufFileOf(std::uint32_t type, std::size_t bytes) {
  return GgufBytes({.pairs = {GgufPair("text", 8, GgufText(std::string(100'000, 'x')))},
                    .tensors = {GgufEntry("token_embd.weight", {32, 1}, type, 0)},
                    .data = std::string(bytes, '\1')});
}

INSTANTIATE_TEST_SUITE_P(
    All, FailingRead,
    ::testing::Values(
        Loader{"Npy", Matrix("'<f4'", false), Npy, 3}, Loader{"NpyInFortranOrder", Matrix("'<f4'", true), Npy, 3},
        Loader{"NpyBigEndian", NpyFile(NpyDict("'>f4'", "(100000, 1)"), std::string(400'000, '\1')), Npy, 4},
        Loader{"Safetensors", SafetensorsFile(Header({Entry("a", "F32", "[2,3]", 0, 24)}), std::string(24, '\1')),
               [](const FileReader& file) { return LoadSafetensors(file, "").status(); }, 3},
        Loader{"GgufOfFloats", GgufFileOf(0, 128), Gguf, 3}, Loader{"GgufQuantised", GgufFileOf(8, 34), Gguf, 3},
        Loader{"Raw", std::string(24, '\1'),
               [](const FileReader& file) {
                 return LoadRaw(file, {core::ElementType::kFloat32, 2, 3}).status();
               },
               1},
        Loader{"WordVectors", "a 1 2\nb 3 4\n",
               [](const FileReader& file) { return LoadWordVectors(file, true).status(); }, 2},
        Loader{"VocabularyLines", "a\nb\n",
               [](const FileReader& file) { return LoadVocabularyLines(file, 2).status(); }, 1},
        Loader{"VocabularyJson", R"(["a","b"])",
               [](const FileReader& file) { return LoadVocabularyJson(file, 2).status(); }, 1},
        Loader{"CheckpointIndex", R"({"weight_map":{"a":"b.safetensors"}})",
               [](const FileReader& file) { return ReadCheckpointIndex(file).status(); }, 1}),
    [](const ::testing::TestParamInfo<Loader>& loader) { return loader.param.name; });

// Text is read twice. What the second pass finds is a file of the same size and of one line.
ssize_t PreadOfFewerLines(int descriptor, void* out, std::size_t size, off_t offset) {
  const ssize_t count = pread(descriptor, out, size, offset);
  auto* const text = static_cast<char*>(out);
  if (count > 0 && reads_left-- <= 0) std::replace(text, text + count - 1, '\n', ' ');
  return count;
}

TEST(WordVectors, LinesThatGoAwayBetweenThePassesAreTold) {
  const ScratchFolder folder;
  const std::string path = folder.Write("t.txt", "a 1\nb 2\n");
  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(path, PreadOfFewerLines));
  reads_left = 1;

  EXPECT_THAT(LoadWordVectors(file, true), AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                                          HasSubstr("the file has become shorter while it was read")),
                                                 ReasonIs("INVALID_FILE")));
}

TEST(OutOfMemory, ExceptionsOfTheStandardLibraryBecomeAStatusUnderThePath) {
  const auto expected = AllOf(StatusIs(absl::StatusCode::kResourceExhausted, "/models/t.npy: not enough memory"),
                              ReasonIs("OUT_OF_MEMORY"));

  EXPECT_THAT(CatchOutOfMemory("/models/t.npy", []() -> absl::Status { throw std::bad_alloc(); }), expected);
  EXPECT_THAT(CatchOutOfMemory("/models/t.npy", []() -> absl::Status { throw std::length_error("vector"); }), expected);
}

}  // namespace
}  // namespace embd::formats

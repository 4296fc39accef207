// Files that are made to take memory or time: refused at once, whatever they say there is. Each is loaded in a process
// of its own.
#include "gmock/gmock.h"

// Sanitizers keep memory of their own beside ours, so the numbers would mean nothing.
#ifndef EMBD_SANITIZED

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/formats/load_table.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/gguf_bytes.h"
#include "tests/unit/formats/peak_growth.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kExa = std::uint64_t{1} << 60;
constexpr std::uint64_t kHuge = ~std::uint64_t{0};

struct Attack {
  std::string name;
  std::string file;
  std::string (*head)();
  std::string message;
  std::uint64_t more_bytes = 0;        // zeros behind the head
  std::int64_t max_growth = 4 * kMiB;  // of the peak of memory
};
void PrintTo(const Attack& attack, std::ostream* out) { *out << attack.name; }

class RefusedFile : public ::testing::TestWithParam<Attack> {};

// Each is refused in a fraction of a second; what read for ever would run into the test's time limit.
TEST_P(RefusedFile, TakesNeitherMemoryNorTime) {
  const Attack& attack = GetParam();
  const ScratchFolder folder;
  const std::string path = WriteSparse(folder, attack.file, attack.head(), attack.more_bytes);

  const std::int64_t growth = PeakGrowth([&] {
    const absl::Status status = LoadTable({.path = path}).status();
    return status.code() == absl::StatusCode::kInvalidArgument && absl::StrContains(status.message(), attack.message);
  });

  RecordProperty("peak_growth_bytes", std::to_string(growth));
  EXPECT_THAT(growth, AllOf(Ge(0), Le(attack.max_growth))) << "-1: it was not refused so";
}

// Entries for tensors of 16 bytes at offset 0, as many as that.
std::string SharedSpan(int count) {
  std::string header = "{";
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&header, i == 0 ? "" : ",", Entry(absl::StrCat("weight_", i), "F32", "[2,2]", 0, 16));
  }
  return SafetensorsFile(header + "}", std::string(16, '\0'));
}

INSTANTIATE_TEST_SUITE_P(
    Safetensors, RefusedFile,
    ::testing::Values(
        Attack{"HeaderOfAThousandBytesInATinyFile", "t.safetensors", [] { return LittleEndian(1000, 8) + "{}"; },
               "byte 0: a header of 1000 bytes goes beyond the file's 10"},
        Attack{"HeaderOfTwoToThe64Bytes", "t.safetensors", [] { return LittleEndian(kHuge, 8) + "{}"; },
               "byte 0: a header of 18446744073709551615 bytes exceeds 100000000"},
        Attack{"HeaderAtTheLimitInATinyFile", "t.safetensors", [] { return LittleEndian(100'000'000, 8) + "{}"; },
               "a header of 100000000 bytes goes beyond the file's 10"},
        // Ten million entries take about 700 MB, which the file has.
        Attack{"TenMillionTensorsOnOneSpan", "t.safetensors",
               [] { return LittleEndian(700'000'000, 8) + SharedSpan(1000).substr(8); },
               "byte 0: a header of 700000000 bytes exceeds 100000000", 700'000'016},
        Attack{"HundredThousandTensorsOnOneSpan", "t.safetensors", [] { return SharedSpan(100'000); },
               "overlap the data before, which ends at 16", 0, 64 * kMiB},
        Attack{"TensorOfAnExabyte", "t.safetensors",
               [] { return SafetensorsFile(Header({Entry("a", "U8", absl::StrCat("[1,", kExa, "]"), 0, kExa)}), "x"); },
               "the tensors take 1152921504606846976 bytes of data, the file holds 1"}),
    [](const ::testing::TestParamInfo<Attack>& attack) { return attack.param.name; });

INSTANTIATE_TEST_SUITE_P(Npy, RefusedFile,
                         ::testing::Values(Attack{"HeaderOfFourGigabytesThatAreThere", "t.npy",
                                                  [] {
                                                    return absl::StrCat("\x93NUMPY\x03", std::string(1, '\0'),
                                                                        LittleEndian(0xFFFFFFFF, 4), "{");
                                                  },
                                                  "byte 8: a header of 4294967295 bytes exceeds 65536", 5 * kGiB},
                                           Attack{"TableOfATerabyte", "t.npy",
                                                  [] { return NpyFile(NpyDict("'<f4'", "(274877906944, 1)"), "1234"); },
                                                  "takes 1099511627776 bytes of data, the file holds 4"}),
                         [](const ::testing::TestParamInfo<Attack>& attack) { return attack.param.name; });

std::string OnePair(std::uint32_t kind, const std::string& value) {
  return GgufBytes({.pairs = {GgufPair("k", kind, value)}});
}

// An array of `count` items of that type, which are not there.
std::string ArrayOf(std::uint32_t kind, std::uint64_t count) {
  return OnePair(9, LittleEndian(kind, 4) + LittleEndian(count, 8));
}

INSTANTIATE_TEST_SUITE_P(
    Gguf, RefusedFile,
    ::testing::Values(
        Attack{"TensorsOfACountOfTwoToThe64", "t.gguf", [] { return GgufBytes({.extra_tensors = kHuge}); },
               "byte 8: says 18446744073709551615 tensors"},
        Attack{"PairsOfACountOfTwoToThe64", "t.gguf", [] { return GgufBytes({.extra_pairs = kHuge}); },
               "byte 16: says 18446744073709551615 pairs of metadata"},
        Attack{"AMillionTensorsThatAFileOf16GiBCouldHold", "t.gguf",
               [] { return GgufBytes({.extra_tensors = 1'000'000}); }, "or they exceed 131072", 16 * kGiB},
        Attack{"KeyOfAnExabyte", "t.gguf",
               [] { return GgufBytes({.pairs = {LittleEndian(kExa, 8) + "k" + LittleEndian(0, 4) + "x"}}); },
               "a key must have 1 to 65535 bytes, got 1152921504606846976"},
        Attack{"TextOfAnExabyte", "t.gguf", [] { return OnePair(8, LittleEndian(kExa, 8)); }, "the file ends at"},
        Attack{"ArrayOfTwoToThe60Bytes", "t.gguf", [] { return ArrayOf(0, kExa); },
               "key \"k\" has 1152921504606846976 items, which go beyond the file's end"},
        Attack{"ArrayOfTwoToThe60Integers", "t.gguf", [] { return ArrayOf(10, kExa); }, "1152921504606846976 items"},
        Attack{"ArrayOfTwoToThe60Texts", "t.gguf", [] { return ArrayOf(8, kExa); }, "1152921504606846976 items"},
        Attack{"TextOfFourGiBIsPassedOver", "t.gguf", [] { return OnePair(8, LittleEndian(4 * kGiB, 8)); },
               "no tensor \"token_embd.weight\"; the file has none", 4 * kGiB},
        Attack{"ArrayOfFourGiBIsPassedOver", "t.gguf", [] { return ArrayOf(0, 4 * kGiB); },
               "no tensor \"token_embd.weight\"; the file has none", 4 * kGiB},
        Attack{"NameOfAnExabyte", "t.gguf",
               [] { return GgufBytes({.tensors = {LittleEndian(kExa, 8) + std::string(24, 'n')}}); },
               "a tensor's name must have 1 to 64 bytes, got 1152921504606846976"},
        Attack{"TensorOfAnExabyte", "t.gguf",
               [] {
                 return GgufBytes({.tensors = {GgufEntry("token_embd.weight", {1, kExa}, 24, 0)}});
               },
               "1152921504606846976 bytes at 0 of the data"}),
    [](const ::testing::TestParamInfo<Attack>& attack) { return attack.param.name; });

INSTANTIATE_TEST_SUITE_P(WordVectors, RefusedFile,
                         ::testing::Values(Attack{"MoreWordsThanTheFileHas", "t.vec",
                                                  [] { return std::string("1000000000000000000 300\na 1\n"); },
                                                  "line 1: says 1000000000000000000 words, the file has 1"},
                                           Attack{"MoreNumbersThanTheFileHas", "t.vec",
                                                  [] { return std::string("1 1000000000000000000\na 1\n"); },
                                                  "line 1: says 1000000000000000000 numbers a line"},
                                           Attack{"LineOfAGiB", "t.txt", [] { return std::string("a 1 2"); },
                                                  "line 1: has 16777216 bytes or more", kGiB, 32 * kMiB}),
                         [](const ::testing::TestParamInfo<Attack>& attack) { return attack.param.name; });

}  // namespace
}  // namespace embd::formats

#endif

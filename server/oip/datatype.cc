#include "server/oip/datatype.h"

#include <algorithm>
#include <array>

namespace embd::oip {
namespace {

struct Row {
  Datatype datatype = ::inference::TYPE_INVALID;
  absl::string_view name;
  std::int64_t size = 0;
};

constexpr std::array<Row, 14> kRows = {{{::inference::TYPE_BOOL, "BOOL", 1},
                                        {::inference::TYPE_UINT8, "UINT8", 1},
                                        {::inference::TYPE_UINT16, "UINT16", 2},
                                        {::inference::TYPE_UINT32, "UINT32", 4},
                                        {::inference::TYPE_UINT64, "UINT64", 8},
                                        {::inference::TYPE_INT8, "INT8", 1},
                                        {::inference::TYPE_INT16, "INT16", 2},
                                        {::inference::TYPE_INT32, "INT32", 4},
                                        {::inference::TYPE_INT64, "INT64", 8},
                                        {::inference::TYPE_FP16, "FP16", 2},
                                        {::inference::TYPE_FP32, "FP32", 4},
                                        {::inference::TYPE_FP64, "FP64", 8},
                                        {::inference::TYPE_STRING, "BYTES", 0},
                                        {::inference::TYPE_BF16, "BF16", 2}}};

const Row* Find(Datatype datatype) {
  const auto* const found =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return row.datatype == datatype; });
  return found == kRows.end() ? nullptr : found;
}

}  // namespace

absl::string_view DatatypeName(Datatype datatype) {
  const Row* const row = Find(datatype);
  return row == nullptr ? "<invalid>" : row->name;
}

Datatype ParseDatatype(absl::string_view name) {
  const auto* const found = std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return row.name == name; });
  return found == kRows.end() ? ::inference::TYPE_INVALID : found->datatype;
}

std::int64_t DatatypeSize(Datatype datatype) {
  const Row* const row = Find(datatype);
  return row == nullptr ? 0 : row->size;
}

}  // namespace embd::oip

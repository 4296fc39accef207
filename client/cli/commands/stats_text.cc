#include "client/cli/commands/stats_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

constexpr double kBarCells = 40;

std::string Number(double value) { return absl::StrFormat("%.6g", value); }

std::string Count(std::int64_t count, const std::string& thing) {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : "s");
}

// A bar as long as that part of the longest one, in eighths of a cell; a part above 0 is always seen.
std::string Bar(double part) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::ceil(part * kBarCells * 8));
  std::string bar;
  for (std::size_t i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + kEighths[eighths % 8];
}

std::string HistogramText(const client::TableStatistics& statistics, bool graphics) {
  const std::vector<std::int64_t>& counts = statistics.histogram_counts;
  if (counts.empty()) return "no row is finite throughout, so there are no norms\n";
  const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  std::vector<Column> columns = {{"norm from", kRight}, {"to", kRight}, {"rows", kRight}};
  if (graphics) columns.push_back({""});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    rows.push_back(
        {Number(statistics.histogram_edges[i]), Number(statistics.histogram_edges[i + 1]), absl::StrCat(counts[i])});
    if (graphics) rows.back().push_back(Bar(static_cast<double>(counts[i]) / most));
  }
  return TableText(columns, rows);
}

// The rows of a list, and that there are more where it does not name all `count`.
std::string RowList(const std::vector<std::string>& rows, std::int64_t count) {
  const std::int64_t more = count - static_cast<std::int64_t>(rows.size());
  return absl::StrCat(absl::StrJoin(rows, ", "), more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

std::vector<std::string> Names(const std::vector<std::int64_t>& rows) {
  std::vector<std::string> names;
  for (const std::int64_t row : rows) names.push_back(absl::StrCat("row ", row));
  return names;
}

std::vector<std::string> Warnings(const client::TableStatistics& statistics) {
  std::vector<std::string> warnings;
  if (statistics.first_bad_cell.size() == 2) {
    warnings.push_back(absl::StrCat(statistics.nan_count, " NaN and ", statistics.inf_count,
                                    " infinite; the first is at row ", statistics.first_bad_cell[0], ", column ",
                                    statistics.first_bad_cell[1],
                                    "; first rows with one: ", absl::StrJoin(Names(statistics.bad_rows), ", ")));
  }
  if (statistics.zero_rows > 0) {
    warnings.push_back(absl::StrCat(Count(statistics.zero_rows, "zero row"), ": ",
                                    RowList(Names(statistics.first_zero_rows), statistics.zero_rows)));
  }
  if (statistics.duplicate_rows > 0) {
    std::vector<std::string> pairs = Names(statistics.first_duplicate_rows);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      absl::StrAppend(&pairs[i], " equals row ", statistics.duplicates_of[i]);
    }
    warnings.push_back(absl::StrCat(Count(statistics.duplicate_rows, "duplicate row"), ": ",
                                    RowList(pairs, statistics.duplicate_rows)));
  }
  return warnings;
}

}  // namespace

std::string StatsText(const client::TableStatistics& statistics, bool graphics) {
  std::string text = FieldsText({{"model", absl::StrCat(statistics.model, " (version ", statistics.model_version, ")")},
                                 {"table", std::string(TableKindName(statistics.table))},
                                 {"shape", absl::StrCat(statistics.rows, " x ", statistics.embedding_dim)},
                                 {"type", std::string(DataTypeName(statistics.data_type))},
                                 {"parameters", absl::StrCat(statistics.parameter_count)},
                                 {"bytes", absl::StrCat(statistics.byte_size)},
                                 {"checksum", statistics.checksum}});
  absl::StrAppend(&text, "\n",
                  TableText({{""}, {"mean", kRight}, {"std", kRight}, {"min", kRight}, {"max", kRight}},
                            {{"elements", Number(statistics.mean), Number(statistics.std), Number(statistics.min),
                              Number(statistics.max)},
                             {"row norms", Number(statistics.norm_mean), Number(statistics.norm_std),
                              Number(statistics.norm_min), Number(statistics.norm_max)}}),
                  "\n", HistogramText(statistics, graphics), "\n");
  const std::vector<std::string> warnings = Warnings(statistics);
  if (warnings.empty()) absl::StrAppend(&text, "no NaN, no infinity, no zero row, no duplicate row\n");
  for (const std::string& warning : warnings) {
    absl::StrAppend(&text, graphics ? "\x1b[33mwarning:\x1b[0m " : "warning: ", warning, "\n");
  }
  return text;
}

}  // namespace embd::cli

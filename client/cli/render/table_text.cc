#include "client/cli/render/table_text.h"

#include <algorithm>
#include <utility>

namespace embd::cli {
namespace {

constexpr std::size_t kGap = 2;

// Characters, not bytes: those bytes of UTF-8 that begin one.
std::size_t Width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void AppendLine(const std::vector<Column>& columns, const std::vector<std::size_t>& widths,
                const std::vector<std::string>& cells, std::string& out) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line.append(kGap, ' ');
    const std::size_t padding = widths[i] - Width(cells[i]);
    if (columns[i].align == Column::Align::kRight) line.append(padding, ' ');
    line += cells[i];
    if (columns[i].align == Column::Align::kLeft) line.append(padding, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

std::string TableText(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    titles.push_back(columns[i].title);
    widths.push_back(Width(columns[i].title));
    for (const std::vector<std::string>& row : rows) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  AppendLine(columns, widths, titles, text);
  for (const std::vector<std::string>& row : rows) AppendLine(columns, widths, row, text);
  return text;
}

std::string FieldsText(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::size_t width = 0;
  for (const auto& [name, value] : fields) width = std::max(width, Width(name));
  std::string text;
  for (const auto& [name, value] : fields) text += name + std::string(width - Width(name) + kGap, ' ') + value + '\n';
  return text;
}

}  // namespace embd::cli

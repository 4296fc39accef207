#ifndef EMBD_CLIENT_CLI_RENDER_TABLE_TEXT_H_
#define EMBD_CLIENT_CLI_RENDER_TABLE_TEXT_H_

#include <string>
#include <vector>

namespace embd::cli {

/// A column of a table: its title, and on which side its cells line up.
struct Column {
  enum class Align { kLeft, kRight };

  std::string title;
  Align align = Align::kLeft;
};
inline constexpr auto kRight = Column::Align::kRight;  ///< where numbers line up

/// Lines of cells under a line of titles, columns two blanks apart; no blanks at the end of a line. Each row has one
/// cell a column. Ends with a line end.
[[nodiscard]] std::string TableText(const std::vector<Column>& columns,
                                    const std::vector<std::vector<std::string>>& rows);

/// Lines of "name  value", values lined up. Ends with a line end; empty for no fields.
[[nodiscard]] std::string FieldsText(const std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_RENDER_TABLE_TEXT_H_

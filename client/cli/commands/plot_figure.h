#ifndef EMBD_CLIENT_CLI_COMMANDS_PLOT_FIGURE_H_
#define EMBD_CLIENT_CLI_COMMANDS_PLOT_FIGURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/plot/figure.h"
#include "embd/client/client.h"

namespace embd::cli {

/// The most rows of a table that are drawn, and the most columns.
inline constexpr std::int64_t kMaxPlottedRows = 1024;
inline constexpr std::int64_t kMaxPlottedColumns = 16384;

/// What a picture is of.
enum class PlotSubject : std::uint8_t { kPositions, kSimilarity, kWavelengths, kNorms, kMatrix };

/// What is to be asked of the server for a picture.
struct PlotRequest {
  PlotSubject subject = PlotSubject::kPositions;
  std::vector<std::string> models = {};  ///< one; for kSimilarity and kWavelengths up to plot::kMaxSeries
  client::TableKind table = client::TableKind::kUnspecified;
  std::optional<std::int64_t> rows = {};  ///< kPositions: at most 128 unless set; kMatrix: the server's choice
  std::int64_t max_offset = 0;            ///< 0: the server's choice
  std::int32_t bins = 0;                  ///< 0: the server's choice
  std::vector<std::int64_t> dims = {};    ///< kWavelengths: D of sinusoidal formulas, besides the models
  std::optional<double> base = {};        ///< of these formulas
};

/// Asks the server, and makes a figure of its answers: one call a series, or a call about the model and one for its
/// rows.
///
/// Errors: those of the calls;
///   INVALID_ARGUMENT     more columns than kMaxPlottedColumns.
///   FAILED_PRECONDITION  there is nothing to draw: no row is finite throughout.
[[nodiscard]] absl::StatusOr<plot::Figure> FindFigure(const client::Client& client, const PlotRequest& request);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_PLOT_FIGURE_H_

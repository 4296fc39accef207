#ifndef EMBD_TESTS_INTEGRATION_ROUTES_RANDOM_MODELS_H_
#define EMBD_TESTS_INTEGRATION_ROUTES_RANDOM_MODELS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/integration/routes/draw.h"

namespace embd::testing {

/// What must be known of a model to draw requests that it answers.
struct RandomModel {
  std::string name;
  std::int64_t dim = 0;
  std::int64_t vocab_size = 0;
  std::int64_t token_types = 0;     ///< how many; 0: it adds none
  std::int64_t position_rows = 0;   ///< of the position table; 0: it has none
  std::int64_t row_offset = 0;      ///< added to every position
  std::int64_t uncounted_rows = 0;  ///< before the first position: up to that of padding, where ids number positions
  std::optional<std::int64_t> padding_idx;
  bool serves_unknown_ids = false;

  /// How many positions a row may have.
  [[nodiscard]] std::int64_t room() const { return position_rows - row_offset - uncounted_rows; }
};

/// The longest row of a request; position tables have room for it. Rows are composed in blocks of 128.
inline constexpr std::int64_t kLongestRow = 150;

/// Models as a configuration file spells them out, with tables in files.
struct RandomModels {
  std::vector<RandomModel> models;
  std::string yaml;  ///< the list under `models:`
};

/// Draws models that differ in the types of their tables, in what they add and how they number positions, and in what
/// they do with unknown ids; there are enough of them for each kind of each to be there. Their files are put into
/// `folder`.
[[nodiscard]] RandomModels DrawModels(Draw& draw, const std::string& folder);

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_ROUTES_RANDOM_MODELS_H_

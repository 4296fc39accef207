#ifndef EMBD_CLIENT_STATISTICS_H_
#define EMBD_CLIENT_STATISTICS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "embd/client/enums.h"

namespace embd::client {

/// Asks for the statistics of a table.
struct TableStatisticsRequest {
  std::string model = {};
  /// kUnspecified: the token table.
  TableKind table = TableKind::kUnspecified;
  /// Bins of the histogram; 0: 20.
  std::int32_t histogram_bins = 0;
  /// Empty: the version that is served.
  std::string model_version = {};
};

/// The statistics of a table; statistics.proto says over what.
struct TableStatistics {
  std::string model = {};
  std::string model_version = {};
  TableKind table = TableKind::kUnspecified;
  std::int64_t rows = 0;
  std::int64_t embedding_dim = 0;
  /// The stored type.
  DataType data_type = DataType::kUnspecified;
  std::int64_t parameter_count = 0;
  std::int64_t byte_size = 0;
  std::string checksum = {};
  /// Of the finite elements.
  double mean = 0;
  double std = 0;
  double min = 0;
  double max = 0;
  /// Of the norms of the rows that are finite throughout.
  double norm_mean = 0;
  double norm_std = 0;
  double norm_min = 0;
  double norm_max = 0;
  std::int64_t nan_count = 0;
  std::int64_t inf_count = 0;
  std::int64_t zero_rows = 0;
  std::int64_t duplicate_rows = 0;
  /// Row and column of the first NaN or infinity, or nothing.
  std::vector<std::int64_t> first_bad_cell = {};
  /// One edge more than counts.
  std::vector<double> histogram_edges = {};
  std::vector<std::int64_t> histogram_counts = {};
  /// The first of each kind, at most 16; duplicates_of are the earlier rows that first_duplicate_rows equal.
  std::vector<std::int64_t> bad_rows = {};
  std::vector<std::int64_t> first_zero_rows = {};
  std::vector<std::int64_t> first_duplicate_rows = {};
  std::vector<std::int64_t> duplicates_of = {};
};

/// Asks for the cosines of all pairs of some rows.
struct CosineSimilaritiesRequest {
  std::string model = {};
  /// kUnspecified: the position table, or the token table where there is none.
  TableKind table = TableKind::kUnspecified;
  /// A window: its first row, and how many rows; 0: 64, or as many as there are.
  std::int64_t first_row = 0;
  std::int64_t row_count = 0;
  /// These rows in place of a window.
  std::vector<std::int64_t> row_ids = {};
  /// Empty: the version that is served.
  std::string model_version = {};
};

/// The cosines of all pairs of n rows.
struct CosineSimilarities {
  std::string model = {};
  std::string model_version = {};
  TableKind table = TableKind::kUnspecified;
  /// The n rows.
  std::vector<std::int64_t> row_ids = {};
  /// (n, n), row-major.
  std::vector<float> cosines = {};
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_STATISTICS_H_

// Hot path: no lock but where a row is found, no allocation a row, no log.
#include "server/core/diagnostics/row_search.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "server/core/diagnostics/best_rows.h"
#include "server/core/diagnostics/fixed_order_dot.h"
#include "server/core/kernels/compose.h"
#include "server/core/kernels/score_rows.h"
#include "server/core/tensor/decode.h"

namespace embd::core {
namespace {

constexpr double kSmallestNorm = 1e-8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A block of rows stays in a first-level cache while the queries pass by it.
constexpr std::int64_t kBlockBytes = 32 << 10;
constexpr std::int64_t kMinBlockRows = 4;
constexpr std::int64_t kMaxBlockRows = 256;
constexpr std::int64_t kBlocksOfPiece = 16;

// From here on, sums of float32 products might overflow on their way.
constexpr double kLargestSum = 1e37;

std::int64_t BlockRows(const Table& table) {
  const std::int64_t row_bytes = std::min(table.dim(), kBlockBytes) * static_cast<std::int64_t>(sizeof(float));
  return std::clamp(kBlockBytes / row_bytes / kMinBlockRows * kMinBlockRows, kMinBlockRows, kMaxBlockRows);
}

// A float that is not above `value`, nor much below it; -infinity where there is none.
float RoundDown(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  const double lower = value - std::fabs(value) * 0x1p-23 - 0x1p-148;
  return lower >= -kLargest ? static_cast<float>(std::min(lower, kLargest)) : -std::numeric_limits<float>::infinity();
}

// The search of one table.
class Searcher {
 public:
  Searcher(const Table& table, const RowSearch& search, const ScoreVisitor& visit)
      : table_(table),
        search_(search),
        visit_(visit),
        dim_(static_cast<std::size_t>(table.dim())),
        query_count_(search.queries.size() / dim_),
        block_rows_(BlockRows(table)) {
    std::vector<double> query(dim_);
    for (std::size_t q = 0; q < query_count_; ++q) {
      best_.emplace_back(static_cast<std::size_t>(search.top_k));
      DecodeQuery(q, query);
      norms_.push_back(std::sqrt(FixedOrderDot(query, query)));
    }
  }

  void SearchPiece(std::int64_t piece);

  std::vector<std::vector<ScoredRow>> Take() {
    std::vector<std::vector<ScoredRow>> found;
    for (BestRows& best : best_) {
      std::vector<ScoredRow>& rows = found.emplace_back();
      for (const RankedRow& row : best.Take()) {
        rows.push_back({.row = row.row, .score = search_.score == RowScore::kDistance ? 0.0 - row.rank : row.rank});
      }
    }
    return found;
  }

 private:
  // Some rows and what becomes of them; one a thread.
  struct Block {
    std::int64_t piece = 0;
    std::int64_t first = 0;
    std::size_t count = 0;
    const float* rows = nullptr;
    double norm = 0;          // the largest
    double term = 0;          // the largest finite one
    std::vector<float> wide;  // rows of another type than float32
    std::vector<float> dots;  // of kQueriesAtOnce queries; then their scores
    std::vector<float> squares;
    // What makes a score of a dot product: score = dot * factor + term. Of kDistance it is (|q|^2 - distance^2) / 2.
    std::vector<float> factors;
    std::vector<float> own_terms;
    const float* terms = nullptr;
    std::vector<const std::byte*> addresses;
    std::vector<double> row;
    std::vector<double> query;
  };

  Block MakeBlock(std::int64_t piece) const {
    const auto rows = static_cast<std::size_t>(block_rows_);
    const bool widens = table_.element_type() != ElementType::kFloat32;
    Block block;
    block.piece = piece;
    block.wide.resize(widens ? rows * dim_ : 0);
    block.addresses.resize(widens ? rows : 0);
    block.dots.resize(kQueriesAtOnce * rows);
    block.squares.resize(rows);
    block.factors.assign(rows, search_.score == RowScore::kDot ? static_cast<float>(search_.scale) : 1.0f);
    block.own_terms.resize(rows);
    block.row.resize(dim_);
    block.query.resize(dim_);
    return block;
  }

  void ReadRows(std::int64_t first, std::size_t count, Block& block) const {
    block.first = first;
    block.count = count;
    if (block.wide.empty()) {
      block.rows = reinterpret_cast<const float*>(table_.row(first));
      return;
    }
    for (std::size_t r = 0; r < count; ++r) block.addresses[r] = table_.row(first + static_cast<std::int64_t>(r));
    Compose({.first = {block.addresses.data(), table_.element_type()},
             .dim = dim_,
             .row_count = count,
             .out = reinterpret_cast<std::byte*>(block.wide.data())});
    block.rows = block.wide.data();
  }

  // What the rows' squares say: how scores are made of dot products, and how far off they may be.
  void Measure(Block& block) const {
    const std::span<const float> squares = std::span(block.squares).first(block.count);
    float largest = 0;
    bool bounded = true;
    for (const float square : squares) {
      largest = square > largest ? square : largest;
      bounded = bounded && static_cast<double>(square) < kLargestSum;
    }
    block.norm = bounded ? std::sqrt(static_cast<double>(largest)) : kInfinity;
    block.term = 0;
    block.terms = block.own_terms.data();
    if (search_.score == RowScore::kCosine) {
      InverseNorms(squares.data(), block.count, static_cast<float>(kSmallestNorm), block.factors.data());
    } else if (search_.score == RowScore::kDistance) {
      for (std::size_t r = 0; r < block.count; ++r) block.own_terms[r] = -0.5f * squares[r];
      block.term = block.norm * block.norm;
    } else if (!search_.bias.empty()) {
      block.terms = search_.bias.data() + block.first;
      for (const float bias : std::span(block.terms, block.count)) {
        if (std::isfinite(bias)) block.term = std::max(block.term, std::fabs(static_cast<double>(bias)));
      }
    }
  }

  // A row whose score is less than this is none of the best: its score in double is less than that of every row that
  // has been kept so far.
  float Cut(const Block& block, std::size_t query) const {
    const double floor = best_[query].floor();
    const double norm = norms_[query];
    const double product = norm * block.norm;
    double cut = floor;
    double scale = 1.0;      // of dot products
    double magnitude = 0.0;  // of what is added up for a score
    double slack = 0.0;
    switch (search_.score) {
      case RowScore::kCosine:
        cut *= std::max(norm, kSmallestNorm);
        scale = 1.0 / kSmallestNorm;
        magnitude = norm;
        break;
      case RowScore::kDot:
        scale = std::fabs(search_.scale);
        magnitude = scale * product + block.term;
        break;
      case RowScore::kDistance:
        cut = 0.5 * (norm * norm - floor * floor);
        magnitude = product + block.term;
        slack = (norm * norm + floor * floor) * static_cast<double>(dim_ + kDoubleRoundings) * 0x1p-53;
        break;
    }
    // At most dim / 16 + 4 additions one after the other, and what else is rounded; the bound for each is doubled.
    const std::size_t roundings = dim_ / 16 + kRoundings;
    slack += magnitude * static_cast<double>(roundings) * 0x1p-23;
    slack += static_cast<double>(dim_) * 0x1p-120 * std::max(scale, 1.0);  // of products too small for a float
    const bool bounded = product < kLargestSum && magnitude < kLargestSum && HasFloatScale();
    return bounded ? RoundDown(cut - slack) : -std::numeric_limits<float>::infinity();
  }

  // Whether the scale is rounded to a float like other numbers, neither to an infinity nor among the subnormals.
  bool HasFloatScale() const {
    const double scale = std::fabs(search_.scale);
    return search_.score != RowScore::kDot || scale == 0.0 ||
           (scale >= static_cast<double>(std::numeric_limits<float>::min()) && scale < kLargestSum);
  }

  void SearchBlock(Block& block);
  void AddBest(Block& block, std::size_t query, std::span<const float> scores, float cut);
  double Rank(Block& block, std::int64_t row, std::size_t query) const;

  void DecodeQuery(std::size_t query, std::span<double> out) const {
    DecodeToDouble(reinterpret_cast<const std::byte*>(search_.queries.data() + query * dim_), ElementType::kFloat32,
                   out);
  }

  static constexpr std::size_t kRoundings = 16;
  static constexpr std::size_t kDoubleRoundings = 64;

  const Table& table_;
  const RowSearch& search_;
  const ScoreVisitor& visit_;
  const std::size_t dim_;
  const std::size_t query_count_;
  const std::int64_t block_rows_;
  std::vector<double> norms_;  // of the queries
  std::deque<BestRows> best_;  // one a query
};

void Searcher::SearchPiece(std::int64_t piece) {
  Block block = MakeBlock(piece);
  const std::int64_t begin = piece * kBlocksOfPiece * block_rows_;
  const std::int64_t end = std::min(begin + kBlocksOfPiece * block_rows_, table_.rows());
  for (std::int64_t first = begin; first < end; first += block_rows_) {
    ReadRows(first, static_cast<std::size_t>(std::min(block_rows_, end - first)), block);
    SearchBlock(block);
  }
}

void Searcher::SearchBlock(Block& block) {
  for (std::size_t first = 0; first < query_count_; first += kQueriesAtOnce) {
    const std::size_t count = std::min(kQueriesAtOnce, query_count_ - first);
    DotRows({.rows = block.rows,
             .row_count = block.count,
             .queries = search_.queries.data() + first * dim_,
             .query_count = count,
             .dim = dim_,
             .dots = block.dots.data(),
             .squares = first == 0 ? block.squares.data() : nullptr,
             .may_fuse = visit_ == nullptr});
    if (first == 0) Measure(block);
    for (std::size_t q = 0; q < count; ++q) {
      const std::span<float> scores = std::span(block.dots).subspan(q * block.count, block.count);
      const float cut = Cut(block, first + q);
      if (ScaleAndCount(block.factors.data(), block.terms, block.count, cut, scores.data()) > 0) {
        AddBest(block, first + q, scores, cut);
      }
      if (visit_) {
        visit_({.piece = block.piece,
                .query = static_cast<std::int64_t>(first + q),
                .first_row = block.first,
                .scores = scores});
      }
    }
  }
}

void Searcher::AddBest(Block& block, std::size_t query, std::span<const float> scores, float cut) {
  const std::span<const std::int64_t> left_out =
      search_.left_out.empty() ? std::span<const std::int64_t>() : search_.left_out[query];
  DecodeQuery(query, block.query);
  for (std::size_t r = 0; r < scores.size(); ++r) {
    if (scores[r] < cut) continue;
    const std::int64_t row = block.first + static_cast<std::int64_t>(r);
    if (std::binary_search(left_out.begin(), left_out.end(), row)) continue;
    best_[query].Add({.row = row, .rank = Rank(block, row, query)});
  }
}

// The score in double; of kDistance what is the higher the nearer.
double Searcher::Rank(Block& block, std::int64_t row, std::size_t query) const {
  const std::span<double> values = block.row;
  DecodeToDouble(table_.row(row), table_.element_type(), values);
  if (search_.score == RowScore::kDistance) {
    for (std::size_t i = 0; i < dim_; ++i) values[i] -= block.query[i];
    return -std::sqrt(FixedOrderDot(values, values));
  }
  const double dot = FixedOrderDot(values, block.query);
  if (search_.score == RowScore::kDot) {
    return search_.scale * dot +
           (search_.bias.empty() ? 0.0 : static_cast<double>(search_.bias[static_cast<std::size_t>(row)]));
  }
  const double norm = std::max(std::sqrt(FixedOrderDot(values, values)), kSmallestNorm);
  return std::clamp(dot / (norm * std::max(norms_[query], kSmallestNorm)), -1.0, 1.0);
}

}  // namespace

std::int64_t SearchPieces(const Table& table) {
  const std::int64_t piece_rows = kBlocksOfPiece * BlockRows(table);
  return (table.rows() - 1) / piece_rows + 1;
}

absl::StatusOr<std::vector<std::vector<ScoredRow>>> SearchRows(const Table& table, const RowSearch& search,
                                                               ShareOut share, const ScoreVisitor& visit) {
  Searcher searcher(table, search, visit);
  const absl::Status status =
      share(SearchPieces(table), [&searcher](std::int64_t piece) { searcher.SearchPiece(piece); });
  if (!status.ok()) return status;
  return searcher.Take();
}

}  // namespace embd::core

#ifndef EMBD_SERVER_CORE_ENGINE_BAG_PLAN_H_
#define EMBD_SERVER_CORE_ENGINE_BAG_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "server/core/engine/embed_input.h"
#include "server/core/engine/model.h"
#include "server/core/kernels/pool.h"
#include "server/core/tensor/element_type.h"
#include "server/core/threads/share_out.h"

namespace embd::core {

/// Bags of ids of one model as a caller describes them, not checked yet. Field names are those of embd.v1.Bag.
struct BagInput {
  /// Bags that all have `length` ids, in place of row_lengths.
  struct Even {
    std::int64_t bags = 0;
    std::int64_t length = 0;
  };

  std::shared_ptr<const Model> model;
  BagMode mode = BagMode::kMean;
  std::span<const std::int64_t> ids;          ///< of all bags, one after the other
  std::span<const std::int64_t> row_lengths;  ///< how many ids each bag has
  std::optional<Even> even;
  std::span<const float> weights;     ///< none, or one an id
  std::vector<std::int64_t> own_ids;  ///< what `ids` shows where the caller does not keep them
};

/// Checked bags of one or many models, and the size of their result before anything of it is allocated. Bags of one
/// BagInput are called a group here.
///
/// Ownership: keeps the models alive; what the spans of a BagInput show outlives the plan. Thread safety: not
/// thread-safe while groups are added; then it never changes, and `Run` may be called by any number of threads.
class BagPlan {
 public:
  BagPlan(ElementType output_type, bool concatenate, const EmbedLimits& limits)
      : output_type_(output_type), concatenate_(concatenate), limits_(limits) {}

  BagPlan(BagPlan&&) = default;  // spans of a group show what it owns
  BagPlan& operator=(BagPlan&&) = default;
  BagPlan(const BagPlan&) = delete;
  BagPlan& operator=(const BagPlan&) = delete;
  ~BagPlan() = default;

  /// Checks the next group and adds it. Only the first offence is named, and the message begins with the field. After
  /// an error the plan is of no use.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT    [INVALID_OPTION] weights with kMax, or that are not finite; [INVALID_SHAPE] lengths that are
  ///                       negative or do not add up to the number of ids, weights that are not as many, other than the
  ///                       first group's number of bags where they are concatenated; [ID_OUT_OF_RANGE]
  ///   RESOURCE_EXHAUSTED  [REQUEST_TOO_LARGE] bags, or ids of a bag, beyond max_batch_size and max_sequence_length;
  ///                       [RESPONSE_TOO_LARGE] the result, up to this group, beyond max_response_bytes
  [[nodiscard]] absl::Status Add(BagInput input);

  [[nodiscard]] ElementType output_type() const { return output_type_; }
  [[nodiscard]] std::size_t group_count() const { return groups_.size(); }
  [[nodiscard]] const Model& model(std::size_t group) const { return *groups_[group].input.model; }
  /// The (B, D) tensors of the result: one a group, or the one (B, sum of D).
  struct Tensor {
    std::int64_t rows = 0;
    std::int64_t dim = 0;
    std::size_t offset = 0;  ///< in the result
    std::size_t byte_size = 0;
  };
  [[nodiscard]] std::vector<Tensor> tensors() const;
  [[nodiscard]] std::size_t byte_size() const { return byte_size_; }
  /// Bags of all groups, and the ids of the longest one.
  [[nodiscard]] std::int64_t bag_count() const { return bag_count_; }
  [[nodiscard]] std::int64_t longest_bag() const { return longest_bag_; }
  /// What `Run` reads and writes.
  [[nodiscard]] std::size_t work_bytes() const { return read_bytes_ + byte_size_; }
  /// How many ids of a group are outside [0, V) and read as the model's policy says.
  [[nodiscard]] std::int64_t out_of_range_ids(std::size_t group) const { return groups_[group].out_of_range_ids; }

  /// Writes the result to `out`, which has byte_size() bytes, aligned to one element: some bags at a time, which
  /// `share_out` may spread over threads. Cost: one pass over the rows. Errors: those of `share_out`.
  [[nodiscard]] absl::Status Run(std::span<std::byte> out, ShareOut share_out) const;

 private:
  struct Group {
    BagInput input;
    std::vector<std::int64_t> even_lengths;  // what input.row_lengths shows of even bags
    std::vector<std::byte> zero_row;         // of models that read ids out of range as such
    std::int64_t out_of_range_ids = 0;
    std::size_t offset = 0;  // of its first vector in the result

    [[nodiscard]] std::int64_t bags() const { return static_cast<std::int64_t>(input.row_lengths.size()); }
  };
  // Bags that are pooled by one call of the kernel.
  struct Piece {
    std::size_t group = 0;
    std::size_t first_bag = 0;
    std::size_t first_id = 0;
    std::size_t bag_count = 0;
    std::size_t id_count = 0;
  };

  [[nodiscard]] absl::Status CheckBagCount(std::int64_t bags) const;
  [[nodiscard]] absl::Status CheckLengths(const BagInput& input) const;
  [[nodiscard]] absl::Status CheckReplySize(const BagInput& input, std::int64_t bags) const;
  void CutIntoPieces(std::size_t group);
  void RunPiece(const Piece& piece, std::span<std::byte> out) const;

  ElementType output_type_;
  bool concatenate_;
  EmbedLimits limits_;
  std::vector<Group> groups_;
  std::vector<Piece> pieces_;
  std::size_t byte_size_ = 0;
  std::size_t step_bytes_ = 0;  // a row of the one tensor, where groups are concatenated
  std::int64_t dim_sum_ = 0;
  std::size_t read_bytes_ = 0;
  std::int64_t bag_count_ = 0;
  std::int64_t longest_bag_ = 0;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_BAG_PLAN_H_

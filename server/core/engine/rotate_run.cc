// Hot path: no lock, no allocation a row, no log line.
#include <algorithm>

#include "server/core/engine/rotate_plan.h"

namespace embd::core {
namespace {

constexpr std::int64_t kTablePairs = std::int64_t{32} << 10;  // of one block of positions: 256 KiB, about a millisecond
constexpr std::int64_t kFloatsBetweenLooks = std::int64_t{256} << 10;

}  // namespace

// One run: block of positions by block of positions, and in each row by row, so that rows of the same positions share
// the sines and cosines.
class RotatePlan::Runner {
 public:
  Runner(const RotatePlan& plan, std::span<const std::byte> in, std::span<std::byte> out,
         const std::function<absl::Status()>& interrupted)
      : plan_(plan),
        in_(in),
        out_(out),
        interrupted_(interrupted),
        pairs_(PairedDim(plan.input_.parameters) / 2),
        block_(std::clamp<std::int64_t>(kTablePairs / pairs_, 1, plan.tokens_)),
        cos_(static_cast<std::size_t>(block_ * pairs_)),
        sin_(cos_.size()) {}

  absl::Status Run() {
    for (std::int64_t first = 0; first < plan_.tokens_; first += block_) {
      const std::int64_t count = std::min(block_, plan_.tokens_ - first);
      for (std::int64_t b = 0; b < plan_.batch_; ++b) {
        if (absl::Status status = Prepare(b, first, count); !status.ok()) return status;
        if (absl::Status status = TurnRow(b, first, count); !status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

 private:
  // Makes the table right for positions [first, first + count) of row `b`.
  absl::Status Prepare(std::int64_t b, std::int64_t first, std::int64_t count) {
    if (b > 0 && plan_.SharesPositions()) return absl::OkStatus();
    if (absl::Status status = interrupted_(); !status.ok()) return status;
    const RotaryParameters& parameters = plan_.input_.parameters;
    if (frequencies_.inv_freq.empty() || DependsOnLength(parameters.scaling)) {
      auto resolved = ResolveRotary(parameters, plan_.ScalingLengthOf(b));
      if (!resolved.ok()) return resolved.status();
      frequencies_ = *std::move(resolved);
    }
    for (std::int64_t t = 0; t < count; ++t) {
      const auto at = static_cast<std::size_t>(t * pairs_);
      RotaryRow(frequencies_, plan_.PositionOf(b, first + t), plan_.input_.direction, cos_.data() + at,
                sin_.data() + at);
    }
    return absl::OkStatus();
  }

  absl::Status TurnRow(std::int64_t b, std::int64_t first, std::int64_t count) {
    for (std::int64_t o = 0; o < plan_.outer_; ++o) {
      const std::int64_t token = (b * plan_.outer_ + o) * plan_.tokens_ + first;
      if (plan_.inner_ == 1) {
        if (absl::Status status = Turn(token, count, 0, pairs_); !status.ok()) return status;
        continue;
      }
      for (std::int64_t t = 0; t < count; ++t) {
        absl::Status status = Turn((token + t) * plan_.inner_, plan_.inner_, t * pairs_, 0);
        if (!status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  // Turns vectors that stand one after the other; the first by the table's values from `table` on.
  absl::Status Turn(std::int64_t first_vector, std::int64_t count, std::int64_t table, std::int64_t table_step) {
    const std::int64_t most = std::max<std::int64_t>(1, kFloatsBetweenLooks / plan_.input_.parameters.head_dim);
    for (std::int64_t done = 0; done < count; done += most) {
      const std::int64_t part = std::min(most, count - done);
      CallKernel(first_vector + done, part, table + done * table_step, table_step);
      if (absl::Status status = Look(part); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  void CallKernel(std::int64_t first_vector, std::int64_t count, std::int64_t table, std::int64_t table_step) const {
    const RotateInput& input = plan_.input_;
    const auto first = static_cast<std::size_t>(first_vector * input.parameters.head_dim);
    Rotate({.vector_count = static_cast<std::size_t>(count),
            .head_dim = static_cast<std::size_t>(input.parameters.head_dim),
            .paired_dim = static_cast<std::size_t>(2 * pairs_),
            .pairing = input.parameters.pairing,
            .layout = input.layout,
            .cos = cos_.data() + table,
            .sin = sin_.data() + table,
            .table_step = static_cast<std::size_t>(table_step),
            .input_type = input.input_type,
            .in = in_.data() + first * ElementSize(input.input_type),
            .output_type = input.output_type,
            .out = out_.data() + first * ElementSize(input.output_type)});
  }

  // Whether to go on, asked now and then.
  absl::Status Look(std::int64_t vectors) {
    written_ += vectors * plan_.input_.parameters.head_dim;
    if (written_ < kFloatsBetweenLooks) return absl::OkStatus();
    written_ = 0;
    return interrupted_();
  }

  const RotatePlan& plan_;
  const std::span<const std::byte> in_;
  const std::span<std::byte> out_;
  const std::function<absl::Status()>& interrupted_;
  const std::int64_t pairs_;
  const std::int64_t block_;  // positions whose table is there at a time
  std::vector<float> cos_;
  std::vector<float> sin_;
  RotaryFrequencies frequencies_;
  std::int64_t written_ = 0;  // components since the last look
};

absl::Status RotatePlan::Run(std::span<const std::byte> in, std::span<std::byte> out,
                             const std::function<absl::Status()>& interrupted) const {
  if (vector_count() == 0) return interrupted();
  return Runner(*this, in, out, interrupted).Run();
}

}  // namespace embd::core

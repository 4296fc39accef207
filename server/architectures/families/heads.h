#ifndef EMBD_SERVER_ARCHITECTURES_FAMILIES_HEADS_H_
#define EMBD_SERVER_ARCHITECTURES_FAMILIES_HEADS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "server/architectures/draft.h"

namespace embd::architectures {

/// Where the width of one attention head is read from.
struct HeadKeys {
  std::int64_t heads = 32;  ///< where the key for them is absent
  absl::string_view heads_key = "num_attention_heads";
  absl::string_view width_key = "hidden_size";
  absl::string_view head_dim_key = "head_dim";  ///< empty: there is no such key
  std::int64_t head_dim = 0;                    ///< where its key is absent; 0: width / heads
};

/// The width of one attention head: its own key, else width / heads, cut to a whole number. A width that config.json
/// does not tell is that of the token rows.
[[nodiscard]] Sourced<std::int64_t> HeadDim(Draft* draft, const HeadKeys& keys);

/// The facts of the model's own rotary encoding.
[[nodiscard]] RotaryFacts FactsOf(const Draft* draft, Sourced<std::int64_t> head_dim,
                                  const Sourced<std::int64_t>& length);

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_FAMILIES_HEADS_H_

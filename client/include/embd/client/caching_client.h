#ifndef EMBD_CLIENT_CACHING_CLIENT_H_
#define EMBD_CLIENT_CACHING_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "embd/client/client.h"
#include "embd/client/embedding.h"
#include "embd/client/options.h"

namespace embd::client {

/// How a CachingClient keeps rows.
struct CachingOptions {
  /// Memory for rows and what finds them again. At most half of it is for positions. What calls need while they go on
  /// comes on top: the missing rows of a batch, and rows of tables that have been replaced since the call began.
  std::size_t max_bytes = std::size_t{256} << 20;

  /// The type in which token rows are fetched and kept: kFloat32, kFloat16 or kBfloat16. kUnspecified: the stored type
  /// of the table where its rows are sent as they are stored, else kFloat32; so results are the server's to the bit.
  /// With a type narrower than the table's they are not: each token row is rounded to it before anything else is done.
  DataType row_type = DataType::kUnspecified;

  /// How long rows are taken to be those of the server without asking it. After that the next call asks, in a few
  /// hundred bytes, whether the tables are still the same. Fetching rows asks in any case.
  absl::Duration max_age = absl::InfiniteDuration();
};

/// What a CachingClient has done so far.
struct CachingStatistics {
  std::int64_t composed_calls = 0;  ///< answered from rows of the cache, some of which may have been fetched for them
  std::int64_t plain_calls = 0;     ///< passed on to the server as they were
  std::string plain_reason = {};    ///< why the latest of them was passed on; empty: none was
  std::int64_t hits = 0;            ///< cells whose row was there
  std::int64_t misses = 0;          ///< cells whose row was not
  std::int64_t rows_fetched = 0;
  std::int64_t position_rows_fetched = 0;
  std::int64_t bytes_fetched = 0;    ///< of those rows
  std::int64_t bytes_delivered = 0;  ///< of the tensors of composed calls: what plain calls would have fetched
  std::int64_t tables_dropped = 0;   ///< how often the server turned out to have other tables
  std::int64_t rows_kept = 0;        ///< token rows that are there now
  std::int64_t bytes_kept = 0;       ///< memory that is held now, at most CachingOptions::max_bytes
};

/// Embeds batches of one model from token rows that are kept, so that a row crosses the network once.
///
///     auto caching = embd::client::CachingClient::Create(client, "gpt2");
///     auto result = caching->Embed({.model = "gpt2", .ids = ids, .batch_size = 8, .sequence_length = 512});
///
/// What a call lacks is fetched: the missing token rows, each once, and position rows up to the largest position asked
/// for so far. Token and position rows are then added here, in the arithmetic of the server, so that the tensor is that
/// of the plain call to the bit (but see CachingOptions::row_type). Which rows go when there is no more room is decided
/// by how recently they were used.
///
/// Calls that need more than a token and a position row are passed on to the server as they are, and so is every call
/// that the server would refuse, which thus gets the server's own error: models with LayerNorm, token types that are
/// always added, positions numbered by ids or a mask, ESM's token dropout, saturate, or ids out of range that are
/// served; requests with a mask, token types, ragged rows, inputs_embeds, if_checksum, output_target, `unique`,
/// Part::kPosition, of another model or of a named version. `statistics` tells how many and why.
///
/// Rows are kept by the checksum of the model's tables. Where the server has loaded others meanwhile, the next fetch is
/// refused, all rows are dropped and the batch is made anew; so no tensor mixes rows of two loads. A call whose rows
/// are all there asks nothing, and does not notice: see CachingOptions::max_age.
///
/// A copyable value; copies share one cache. Thread safety: thread-safe; no lock is held while a call to the server is
/// under way, so that two threads that lack the same row may both fetch it.
class CachingClient {
 public:
  /// Asks nothing yet.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  row_type is none of those allowed, or max_age is negative.
  [[nodiscard]] static absl::StatusOr<CachingClient> Create(Client client, absl::string_view model,
                                                            const CachingOptions& options = {});

  /// As Client::Embed. `options` hold for all that the call asks of the server, a timeout in them for the whole; a call
  /// whose rows are all there has no use for them. Generation and version of the result are those that the server said
  /// last.
  ///
  /// Cost where all rows are there: one look-up a cell and one pass over the output.
  /// Errors: those of Client::Embed.
  [[nodiscard]] absl::StatusOr<Embedding> Embed(const EmbedRequest& request, const CallOptions& options = {}) const;

  /// As Client::EmbedInto.
  [[nodiscard]] absl::StatusOr<EmbedInfo> EmbedInto(const EmbedRequest& request, std::span<std::byte> out,
                                                    const CallOptions& options = {}) const;
  [[nodiscard]] absl::StatusOr<EmbedInfo> EmbedInto(const EmbedRequest& request, std::span<float> out,
                                                    const CallOptions& options = {}) const;

  [[nodiscard]] CachingStatistics statistics() const;

 private:
  class State;
  explicit CachingClient(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_CACHING_CLIENT_H_

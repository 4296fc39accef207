#ifndef EMBD_TESTS_STRESS_CORPUS_H_
#define EMBD_TESTS_STRESS_CORPUS_H_

#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "embd/client/embedding.h"
#include "server/config/server_config.h"

namespace embd::stress {

using Random = std::mt19937_64;

/// A number in [0, end).
[[nodiscard]] inline std::int64_t Below(Random& random, std::int64_t end) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
}

/// A batch, and what it is answered with.
struct Case {
  client::EmbedRequest request;
  std::map<std::string, std::string> expected;  ///< the tensor, by the checksum of the tables
};

[[nodiscard]] inline std::string BytesOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The models that are served, in the variants that their tables and their configuration have, and batches of them with
/// the tensors that the engine alone makes of these.
///
/// Thread safety: never changes after the constructor; `WriteTable` and `CutShort` change files.
class Corpus {
 public:
  static constexpr int kVariants = 3;

  /// Writes files of tables into `folder`, in variant 0.
  explicit Corpus(std::string folder);

  /// The models of the configuration. Another variant is another seed of "configured", and does or does not name
  /// "coming".
  [[nodiscard]] std::vector<config::ModelConfig> Models(int variant) const;

  /// Puts another file into the place of a table's, as a careful writer does. `model` is one of FileModels.
  void WriteTable(const std::string& model, int variant) const;
  /// Cuts the file of "damaged", which is mapped, where it stands.
  void CutShort() const;

  /// Those whose tables change with their files.
  [[nodiscard]] static const std::vector<std::string>& FileModels();
  /// Those that are always served.
  [[nodiscard]] static const std::vector<std::string>& SteadyModels();
  /// Those that may be out of service, or refuse.
  [[nodiscard]] static const std::vector<std::string>& FleetingModels();

  /// One of the batches of a model. The plain ones have nothing but ids, want float32, and are of 512 KiB for "wide",
  /// else small.
  [[nodiscard]] const Case& Any(const std::string& model, Random& random) const;
  [[nodiscard]] const Case& AnyPlain(const std::string& model, Random& random) const;

 private:
  const std::string folder_;
  std::map<std::string, std::vector<Case>> cases_;  // of a model; the first kPlain are plain
};

}  // namespace embd::stress

#endif  // EMBD_TESTS_STRESS_CORPUS_H_

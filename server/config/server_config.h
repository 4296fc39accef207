#ifndef EMBD_SERVER_CONFIG_SERVER_CONFIG_H_
#define EMBD_SERVER_CONFIG_SERVER_CONFIG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// What a server is told to do: plain values, checked by the functions that make them (load.h). Knows nothing of tables
// or gRPC; `app` turns it into a running server.
namespace embd::config {

/// Rows from a file on disk.
struct TableFile {
  std::string path;    ///< .npy, .safetensors, or word2vec/GloVe text
  std::string tensor;  ///< name of the tensor, for formats that hold several; empty: the only one
  std::string
      vocabulary;  ///< one word a line, line i naming row i, or JSON; empty: none but what the file itself holds

  friend bool operator==(const TableFile&, const TableFile&) = default;
};

/// Rows drawn from normal(mean, std) by a seed; the same everywhere. Rows and width are those of the table it fills.
struct SeededRows {
  double mean = 0.0;
  double std = 0.02;
  std::uint64_t seed = 0;

  friend bool operator==(const SeededRows&, const SeededRows&) = default;
};

/// A seeded token table (vocab_size, embedding_dim).
struct SeededTokens {
  std::int64_t vocab_size = 0;
  std::int64_t embedding_dim = 0;
  SeededRows rows;

  friend bool operator==(const SeededTokens&, const SeededTokens&) = default;
};

/// A seeded position table (max_context_length, the token table's width).
struct SeededPositions {
  std::int64_t max_context_length = 0;
  SeededRows rows;

  friend bool operator==(const SeededPositions&, const SeededPositions&) = default;
};

/// No position encoding.
struct NoPositions {
  friend bool operator==(const NoPositions&, const NoPositions&) = default;
};

/// A table of trained rows.
struct LearnedPositions {
  std::variant<TableFile, SeededPositions> source;

  friend bool operator==(const LearnedPositions&, const LearnedPositions&) = default;
};

/// A computed table of sines and cosines, interleaved layout.
struct SinusoidalPositions {
  std::int64_t max_context_length = 0;
  double base = 10000.0;

  friend bool operator==(const SinusoidalPositions&, const SinusoidalPositions&) = default;
};

/// How the frequencies of a rotary encoding are scaled. What is unset has not been given; `core::RotaryScaling` says
/// what each type needs.
struct RotaryScalingConfig {
  std::string type;
  std::optional<double> factor;
  std::optional<std::int64_t> original_max_position_embeddings;
  std::optional<double> low_freq_factor;
  std::optional<double> high_freq_factor;
  std::optional<double> beta_fast;
  std::optional<double> beta_slow;
  std::optional<double> attention_factor;
  std::optional<double> mscale;
  std::optional<double> mscale_all_dim;
  std::optional<bool> truncate;
  std::optional<std::int64_t> max_position_embeddings;
  std::vector<double> short_factor;
  std::vector<double> long_factor;

  friend bool operator==(const RotaryScalingConfig&, const RotaryScalingConfig&) = default;
};

/// Rotary encoding of the layers of one type. What is unset is as in `RotaryPositions`.
struct RotaryLayer {
  std::optional<std::int64_t> head_dim;
  std::optional<std::int64_t> rotary_dim;
  std::optional<double> theta;
  std::optional<bool> interleaved;
  std::optional<RotaryScalingConfig> scaling;  ///< replaces the other as a whole

  friend bool operator==(const RotaryLayer&, const RotaryLayer&) = default;
};

/// Rotary encoding; adds nothing at the input. What is unset has not been given.
struct RotaryPositions {
  std::optional<std::int64_t> head_dim;    ///< unset: the token table's width
  std::optional<std::int64_t> rotary_dim;  ///< unset: all of head_dim
  std::optional<double> theta;             ///< unset: 10000
  std::optional<bool> interleaved;         ///< unset or false: HALF
  std::optional<RotaryScalingConfig> scaling;
  std::map<std::string, RotaryLayer> layer_types;  ///< by name

  friend bool operator==(const RotaryPositions&, const RotaryPositions&) = default;
};

/// One model.
struct ModelConfig {
  std::string name;
  std::string version = "1";
  std::variant<TableFile, SeededTokens> token;
  std::variant<NoPositions, LearnedPositions, SinusoidalPositions, RotaryPositions> position;

  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

/// The largest values of two limits: a message's length and gRPC's own limits are ints of 32 bits, and what frames the
/// payload needs room beside it.
inline constexpr std::int64_t kLargestMaxRequestBytes = std::int64_t{1} << 30;
inline constexpr std::int64_t kLargestMaxResponseBytes = (std::int64_t{1} << 31) - 1 - (std::int64_t{1} << 20);

/// What a request may ask for. Every limit is at least 1.
struct Limits {
  std::int64_t max_request_bytes = std::int64_t{64} << 20;  ///< at most kLargestMaxRequestBytes
  std::int64_t max_response_bytes = std::int64_t{1} << 30;  ///< at most kLargestMaxResponseBytes
  std::int64_t max_batch_size = 4096;
  std::int64_t max_sequence_length = 1048576;
  /// Unset: 4 GiB, or a quarter of the memory this process may use where that is less.
  std::optional<std::int64_t> max_bytes_in_flight;

  friend bool operator==(const Limits&, const Limits&) = default;
};

/// Everything.
struct ServerConfig {
  std::vector<std::string> listen = {"127.0.0.1:8001"};  ///< HOST:PORT (port 0: a free one), [IPV6]:PORT or unix:PATH
  Limits limits;
  double drain_seconds = 30.0;      ///< how long SIGTERM waits for calls in flight; 0 to 86400
  std::string ready_file;           ///< written once the server serves; empty: none
  std::string log_level = "info";   ///< trace, debug, info, warn, error, off
  std::vector<ModelConfig> models;  ///< never empty after loading: the demo models stand in

  friend bool operator==(const ServerConfig&, const ServerConfig&) = default;
};

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_SERVER_CONFIG_H_

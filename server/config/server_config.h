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

/// The types in which tables rest.
enum class StoredType { kFloat32, kFloat16, kBFloat16, kFloat64 };

/// What the rows of a file are, where somebody says it.
struct RawLayout {
  StoredType dtype = StoredType::kFloat32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::uint64_t offset = 0;  ///< of the first row in the file, in bytes

  friend bool operator==(const RawLayout&, const RawLayout&) = default;
};

/// What NaNs in a table do: nothing, a warning that counts them, or the end of loading.
enum class NanPolicy { kAllow, kWarn, kReject };

/// Rows from a file on disk.
struct TableFile {
  std::string path;    ///< .npy, .safetensors, .gguf, .bin, or word2vec/GloVe text
  std::string tensor;  ///< name of the tensor, for formats that hold several; empty: the only one
  std::string
      vocabulary;  ///< one word a line, line i naming row i, or JSON; empty: none but what the file itself holds
  std::optional<RawLayout> raw;  ///< what a .bin file holds; for others what they must hold
  std::optional<bool> mmap;      ///< the rows stay in the file; unset: false
  std::optional<NanPolicy> nan;  ///< unset: warn

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

/// Where the sines and cosines of a computed row stand, and their frequencies.
enum class SinusoidalLayout { kInterleaved, kHalf, kTensor2Tensor };

/// A computed table of sines and cosines.
struct SinusoidalPositions {
  std::optional<std::int64_t> max_context_length;  ///< positions that are computed at load
  std::optional<double> base;                      ///< unset: 10000
  std::optional<SinusoidalLayout> layout;          ///< unset: interleaved
  std::optional<std::int64_t> grow_to;             ///< positions up to here are computed when asked for; unset: none

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

/// How a model marks order.
using Positions = std::variant<NoPositions, LearnedPositions, SinusoidalPositions, RotaryPositions>;

/// How cells are numbered, before row_offset is added.
enum class Numbering {
  kSequential,  ///< 0 … T-1; with a mask the unmasked cells are counted, masked ones have position 1
  kFixed,       ///< 0 … T-1, whatever the mask
  kPadding,     ///< the cells that are no padding are counted from padding_idx + 1, padding has padding_idx
  kMask,        ///< the unmasked cells are counted from 0, masked ones have -1; needs row_offset >= 1
};

/// The factor of token rows.
struct TokenScale {
  double factor = 1.0;
  bool sqrt_dim = false;      ///< sqrt(embedding_dim) in place of `factor`
  bool weight_dtype = false;  ///< the factor is rounded to the table's stored type; false: to float32

  friend bool operator==(const TokenScale&, const TokenScale&) = default;
};

/// What an id outside [0, vocab_size) does.
struct OutOfRange {
  enum class Policy { kError, kZero, kUnk };
  Policy policy = Policy::kError;
  std::int64_t unk_id = 0;  ///< the row that stands in, for kUnk

  friend bool operator==(const OutOfRange&, const OutOfRange&) = default;
};

/// A seeded table of token types (type_vocab_size, the token table's width).
struct SeededTokenTypes {
  std::int64_t type_vocab_size = 0;
  SeededRows rows;

  friend bool operator==(const SeededTokenTypes&, const SeededTokenTypes&) = default;
};

/// Type ids name rows of the token table itself, as in GPT-2.
struct SharedTokenTypes {
  friend bool operator==(const SharedTokenTypes&, const SharedTokenTypes&) = default;
};

/// Rows that are added by token type.
struct TokenTypes {
  std::variant<TableFile, SeededTokenTypes, SharedTokenTypes> source;
  bool only_when_sent = false;  ///< false: type 0 where a request gives none

  friend bool operator==(const TokenTypes&, const TokenTypes&) = default;
};

/// Layer normalisation of the sum: vectors of embedding_dim elements.
struct LayerNorm {
  std::optional<TableFile> weight;  ///< unset (with a path only): weight and bias are those that are inferred
  std::optional<TableFile> bias;    ///< unset beside a weight: zeros
  std::optional<double> eps;        ///< unset: inferred with a path, else 1e-5

  friend bool operator==(const LayerNorm&, const LayerNorm&) = default;
};

/// Says that something is not there, where it would be inferred otherwise.
struct Absent {
  friend bool operator==(const Absent&, const Absent&) = default;
};

/// How a model's results become scores of its token rows. What is unset is inferred where there is a path, and else the
/// default.
struct Output {
  std::optional<bool> tied;                             ///< whether the token table is the projection; default: true
  std::optional<double> scale;                          ///< of dot products, > 0; default: 1
  std::optional<std::variant<Absent, double>> softcap;  ///< bound of scores, > 0; default: absent
  std::optional<std::variant<Absent, TableFile>> bias;  ///< one number a token row; default: absent

  friend bool operator==(const Output&, const Output&) = default;
};

enum class Side { kEncoder, kDecoder };

/// What is added to the scaled token row first.
enum class SumOrder { kTypeFirst, kPositionFirst };

/// One model: spelled out, or a `path` to infer from and what is said otherwise. What is unset is inferred where there
/// is a path, and else the default.
struct ModelConfig {
  std::string name;
  std::string version = "1";
  bool required = true;                         ///< whether the server is not ready, and at its start ends, without it
  std::string path;                             ///< a model folder or a file; empty: spelled out
  std::optional<Side> side;                     ///< which half of an encoder-decoder is meant
  std::variant<TableFile, SeededTokens> token;  ///< a TableFile without path: the one that is inferred
  std::optional<TokenScale> token_scale;        ///< default: 1
  std::optional<OutOfRange> out_of_range;       ///< default: error
  std::optional<std::int64_t> dropout_mask_id;  ///< ESM's token_dropout, with this id for <mask>; default: none
  std::optional<std::variant<Absent, TokenTypes>> token_types;  ///< default: absent
  std::optional<Positions> position;                            ///< default: none
  std::optional<Numbering> numbering;                           ///< default: sequential
  std::optional<std::int64_t> row_offset;                       ///< added to every position; default: 0
  std::optional<std::int64_t> padding_idx;                      ///< the id of padding; default: none
  std::optional<std::variant<Absent, LayerNorm>> layer_norm;    ///< default: absent
  std::optional<SumOrder> sum_order;                            ///< default: type first
  std::optional<bool> zero_masked;                              ///< masked cells become zero; default: false
  std::optional<bool> saturate;                                 ///< no overflow to infinity; default: false
  std::optional<std::int64_t> trained_context_length;           ///< longer sequences get a warning; default: none
  Output output;

  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

/// The largest values of two limits: a message's length and gRPC's own limits are ints of 32 bits, and what frames the
/// payload needs room beside it.
inline constexpr std::int64_t kLargestMaxRequestBytes = std::int64_t{1} << 30;
inline constexpr std::int64_t kLargestMaxResponseBytes = (std::int64_t{1} << 31) - 1 - (std::int64_t{1} << 20);

/// What a request may ask for, and what all of them together. Every limit is at least 1.
struct Limits {
  std::int64_t max_request_bytes = std::int64_t{64} << 20;  ///< at most kLargestMaxRequestBytes
  std::int64_t max_response_bytes = std::int64_t{1} << 30;  ///< at most kLargestMaxResponseBytes
  std::int64_t max_batch_size = 4096;
  std::int64_t max_sequence_length = 1048576;
  /// Unset: 4 GiB, or a quarter of the memory this process may use where that is less.
  std::optional<std::int64_t> max_bytes_in_flight;
  /// Of requests that are queued or worked on. Unset: 1 GiB, or an eighth of the memory where that is less, but at
  /// least twice max_request_bytes.
  std::optional<std::int64_t> max_request_bytes_in_flight;
  std::int64_t max_concurrent_calls = 10'000;  ///< that are queued or worked on, over all connections
  std::int64_t max_concurrent_streams = 1024;  ///< calls of one connection at a time; at most 2^31 - 1
  double max_stall_seconds = 60.0;             ///< how long a reply waits for its reader; above 0, to 86400

  friend bool operator==(const Limits&, const Limits&) = default;
};

/// How connections are kept, in seconds. Unset: without end.
struct Connections {
  double keepalive_time = 20.0;         ///< between a sign of life and the ping that asks for another; 1 to 86400
  double keepalive_timeout = 10.0;      ///< how long a ping may go unanswered; 1 to 86400
  double min_ping_interval = 10.0;      ///< of clients; who pings more often is sent away; 0 to 86400
  double handshake_timeout = 20.0;      ///< from the connection to its first HTTP/2 frame; 1 to 86400
  std::optional<double> max_idle;       ///< without calls; 1 to 86400 * 24
  std::optional<double> max_age;        ///< after which a connection takes no new calls; 1 to 86400 * 24
  std::optional<double> max_age_grace;  ///< how long its calls may then go on; 0 to 86400 * 24

  friend bool operator==(const Connections&, const Connections&) = default;
};

enum class TlsVersion { kTls12, kTls13 };

/// Encryption, and who may connect. All files are PEM, and are read again when they change.
struct Tls {
  std::string certificate;  ///< of the server, then those between it and the root
  std::string key;          ///< of the certificate, not encrypted
  std::string client_ca;    ///< whose certificates clients must show; empty: they need none
  TlsVersion min_version = TlsVersion::kTls12;

  friend bool operator==(const Tls&, const Tls&) = default;
};

enum class LogFormat { kText, kJson };

/// What is logged, and how.
struct Log {
  std::string level = "info";  ///< trace, debug, info, warn, error, off
  LogFormat format = LogFormat::kText;
  double access_sample = 0.0;  ///< the share of requests that get a line at info; 0 to 1

  friend bool operator==(const Log&, const Log&) = default;
};

/// The largest number of regions: a process looks after no more.
inline constexpr std::int64_t kLargestMaxRegions = 256;

/// What callers on this machine may have mapped, for results that need not travel.
struct SharedMemory {
  std::string prefix;             ///< how the paths of files begin: absolute, not "/"
  std::int64_t max_regions = 64;  ///< 1 to kLargestMaxRegions
  /// Of all regions together, at least 1. Unset: a quarter of the memory this process may use.
  std::optional<std::int64_t> max_bytes;

  friend bool operator==(const SharedMemory&, const SharedMemory&) = default;
};

/// The types in which results can be sent.
enum class OutputType { kFloat32, kFloat16, kBFloat16 };

/// What the Open Inference Protocol shows of the server.
struct Inference {
  std::string name = "embd";                      ///< of the server
  OutputType output_type = OutputType::kFloat32;  ///< of outputs where a request does not choose

  friend bool operator==(const Inference&, const Inference&) = default;
};

/// Everything.
struct ServerConfig {
  std::vector<std::string> listen = {"127.0.0.1:8001"};  ///< HOST:PORT (port 0: a free one), [IPV6]:PORT or unix:PATH
  Limits limits;
  std::optional<SharedMemory> shared_memory;  ///< unset: off
  bool explicit_model_control = false;        ///< whether callers may have models loaded and unloaded
  Inference inference;
  Connections connections;
  std::optional<Tls> tls;                   ///< unset: not encrypted
  std::string tokens;                       ///< file of bearer tokens; empty: none are asked for
  bool insecure = false;                    ///< whether others than this machine may be served without TLS
  std::vector<std::string> metrics_listen;  ///< HOST:PORT of /metrics, /healthz and /readyz; empty: not served
  double drain_delay_seconds = 5.0;         ///< how long calls may still come once health is NOT_SERVING; 0 to 86400
  double drain_seconds = 30.0;              ///< how long SIGTERM waits for calls in flight; 0 to 86400
  std::string ready_file;                   ///< written once the server serves; empty: none
  Log log;
  std::vector<ModelConfig> models;  ///< never empty after loading: the demo models stand in

  friend bool operator==(const ServerConfig&, const ServerConfig&) = default;
};

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_SERVER_CONFIG_H_

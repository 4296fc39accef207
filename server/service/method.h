#ifndef EMBD_SERVER_SERVICE_METHOD_H_
#define EMBD_SERVER_SERVICE_METHOD_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"

// The methods of all services that pass the gate: those of embd.v1 and those of the Open Inference Protocol. Health and
// reflection are gRPC's own, and open to everyone.
namespace embd::service {

enum class Method : std::uint8_t {
  kEmbed,
  kEmbedStream,
  kEmbedChunks,
  kRotate,
  kRotaryTable,
  kEmbedBags,
  kGradient,
  kProject,
  kListModels,
  kDescribeModel,
  kLookUpTokens,
  kNeighbourSimilarity,
  kTableStatistics,
  kCosineSimilarities,
  kNearestTokens,
  kPositionWavelengths,
  kShiftProperty,
  kExplainCell,
  kGetServerInfo,
  kLoadModel,
  kUnloadModel,
  kReloadConfig,
  kRegisterRegion,
  kUnregisterRegion,
  kListRegions,
  kServerLive,
  kServerReady,
  kModelReady,
  kServerMetadata,
  kModelMetadata,
  kModelInfer,
  kModelStreamInfer,
  kModelConfig,
  kModelStatistics,
  kRepositoryIndex,
  kRepositoryModelLoad,
  kRepositoryModelUnload,
  kSystemSharedMemoryStatus,
  kSystemSharedMemoryRegister,
  kSystemSharedMemoryUnregister,
  kCudaSharedMemoryStatus,
  kCudaSharedMemoryRegister,
  kCudaSharedMemoryUnregister,
  kTraceSetting,
  kLogSettings,
};

/// How many messages go each way.
enum class MethodType : std::uint8_t { kUnary, kServerStream, kBidiStream };

/// What a caller must be to call a method. Who may do more may do less.
enum class Role : std::uint8_t {
  kAnyone,  ///< tells nothing but that the server is there
  kRead,    ///< embeds, and asks what there is
  kAdmin,   ///< changes what the server holds
};

/// What is fixed about a method.
struct MethodInfo {
  Method method = {};
  absl::string_view service;  ///< with its package
  absl::string_view name;
  MethodType type = {};
  Role role = {};
};

/// All methods, in the order of the enum.
[[nodiscard]] std::span<const MethodInfo> Methods();

[[nodiscard]] const MethodInfo& InfoOf(Method method);

/// The method's name without its service, such as "Embed".
[[nodiscard]] absl::string_view NameOf(Method method);

/// "read" or "admin"; "" for kAnyone.
[[nodiscard]] absl::string_view NameOf(Role role);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_METHOD_H_

#include "server/service/method.h"

#include <array>

namespace embd::service {
namespace {

using enum MethodType;
using enum Role;

constexpr absl::string_view kEmbedding = "embd.v1.EmbeddingService";
constexpr absl::string_view kDiagnostics = "embd.v1.DiagnosticsService";
constexpr absl::string_view kAdminService = "embd.v1.AdminService";
constexpr absl::string_view kInference = "inference.GRPCInferenceService";

constexpr auto kMethods = std::to_array<MethodInfo>({
    {Method::kEmbed, kEmbedding, "Embed", kUnary, kRead},
    {Method::kEmbedStream, kEmbedding, "EmbedStream", kBidiStream, kRead},
    {Method::kEmbedChunks, kEmbedding, "EmbedChunks", kServerStream, kRead},
    {Method::kRotate, kEmbedding, "Rotate", kUnary, kRead},
    {Method::kRotaryTable, kEmbedding, "RotaryTable", kUnary, kRead},
    {Method::kEmbedBags, kEmbedding, "EmbedBags", kUnary, kRead},
    {Method::kGradient, kEmbedding, "Gradient", kUnary, kRead},
    {Method::kProject, kEmbedding, "Project", kUnary, kRead},
    {Method::kListModels, kDiagnostics, "ListModels", kUnary, kRead},
    {Method::kDescribeModel, kDiagnostics, "DescribeModel", kUnary, kRead},
    {Method::kLookUpTokens, kDiagnostics, "LookUpTokens", kUnary, kRead},
    {Method::kNeighbourSimilarity, kDiagnostics, "NeighbourSimilarity", kUnary, kRead},
    {Method::kTableStatistics, kDiagnostics, "TableStatistics", kUnary, kRead},
    {Method::kCosineSimilarities, kDiagnostics, "CosineSimilarities", kUnary, kRead},
    {Method::kNearestTokens, kDiagnostics, "NearestTokens", kUnary, kRead},
    {Method::kPositionWavelengths, kDiagnostics, "PositionWavelengths", kUnary, kRead},
    {Method::kShiftProperty, kDiagnostics, "ShiftProperty", kUnary, kRead},
    {Method::kExplainCell, kDiagnostics, "ExplainCell", kUnary, kRead},
    {Method::kGetServerInfo, kDiagnostics, "GetServerInfo", kUnary, kRead},
    {Method::kLoadModel, kAdminService, "LoadModel", kUnary, kAdmin},
    {Method::kUnloadModel, kAdminService, "UnloadModel", kUnary, kAdmin},
    {Method::kReloadConfig, kAdminService, "ReloadConfig", kUnary, kAdmin},
    {Method::kRegisterRegion, kAdminService, "RegisterRegion", kUnary, kAdmin},
    {Method::kUnregisterRegion, kAdminService, "UnregisterRegion", kUnary, kAdmin},
    {Method::kListRegions, kAdminService, "ListRegions", kUnary, kAdmin},
    {Method::kServerLive, kInference, "ServerLive", kUnary, kAnyone},
    {Method::kServerReady, kInference, "ServerReady", kUnary, kAnyone},
    {Method::kModelReady, kInference, "ModelReady", kUnary, kAnyone},
    {Method::kServerMetadata, kInference, "ServerMetadata", kUnary, kRead},
    {Method::kModelMetadata, kInference, "ModelMetadata", kUnary, kRead},
    {Method::kModelInfer, kInference, "ModelInfer", kUnary, kRead},
    {Method::kModelStreamInfer, kInference, "ModelStreamInfer", kBidiStream, kRead},
    {Method::kModelConfig, kInference, "ModelConfig", kUnary, kRead},
    {Method::kModelStatistics, kInference, "ModelStatistics", kUnary, kRead},
    {Method::kRepositoryIndex, kInference, "RepositoryIndex", kUnary, kRead},
    {Method::kRepositoryModelLoad, kInference, "RepositoryModelLoad", kUnary, kAdmin},
    {Method::kRepositoryModelUnload, kInference, "RepositoryModelUnload", kUnary, kAdmin},
    {Method::kSystemSharedMemoryStatus, kInference, "SystemSharedMemoryStatus", kUnary, kAdmin},
    {Method::kSystemSharedMemoryRegister, kInference, "SystemSharedMemoryRegister", kUnary, kAdmin},
    {Method::kSystemSharedMemoryUnregister, kInference, "SystemSharedMemoryUnregister", kUnary, kAdmin},
    {Method::kCudaSharedMemoryStatus, kInference, "CudaSharedMemoryStatus", kUnary, kAdmin},
    {Method::kCudaSharedMemoryRegister, kInference, "CudaSharedMemoryRegister", kUnary, kAdmin},
    {Method::kCudaSharedMemoryUnregister, kInference, "CudaSharedMemoryUnregister", kUnary, kAdmin},
    {Method::kTraceSetting, kInference, "TraceSetting", kUnary, kAdmin},
    {Method::kLogSettings, kInference, "LogSettings", kUnary, kAdmin},
});

constexpr bool InOrder() {
  for (std::size_t i = 0; i < kMethods.size(); ++i) {
    if (static_cast<std::size_t>(kMethods[i].method) != i) return false;
  }
  return true;
}
static_assert(InOrder());

}  // namespace

std::span<const MethodInfo> Methods() { return kMethods; }

const MethodInfo& InfoOf(Method method) { return kMethods[static_cast<std::size_t>(method)]; }

absl::string_view NameOf(Method method) { return InfoOf(method).name; }

absl::string_view NameOf(Role role) {
  switch (role) {
    case Role::kAnyone: return "";
    case Role::kRead: return "read";
    case Role::kAdmin: return "admin";
  }
  return "";
}

}  // namespace embd::service

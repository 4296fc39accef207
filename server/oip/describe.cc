#include "server/oip/describe.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "server/oip/datatype.h"
#include "server/service/statistics.h"

namespace embd::oip {
namespace {

std::string NamesOf(const std::vector<TensorSpec>& specs, bool optional) {
  std::vector<std::string> names;
  for (const TensorSpec& spec : specs) {
    if (spec.declared && spec.optional == optional) names.push_back(spec.name);
  }
  return absl::StrJoin(names, ",");
}

std::string DatatypesOf(const TensorSpec& spec) {
  return absl::StrJoin(spec.datatypes, ",", [](std::string* out, Datatype datatype) {
    const absl::string_view name = DatatypeName(datatype);
    out->append(name.data(), name.size());
  });
}

void DescribeTensor(const TensorSpec& spec, ::inference::ModelMetadataResponse::TensorMetadata* message) {
  message->set_name(spec.name);
  message->set_datatype(std::string(DatatypeName(spec.datatypes.front())));
  message->mutable_shape()->Assign(spec.shape.begin(), spec.shape.end());
}

// Triton's extents: without the batch dimension where there is one.
template <typename Message>
void DescribeTensor(const TensorSpec& spec, bool batched, Message* message) {
  message->set_name(spec.name);
  message->set_data_type(spec.datatypes.front());
  message->mutable_dims()->Assign(spec.shape.begin() + (batched ? 1 : 0), spec.shape.end());
}

void Set(const service::Duration& duration, ::inference::StatisticDuration* message) {
  message->set_count(duration.count);
  message->set_ns(static_cast<std::uint64_t>(duration.sum.count()));
}

}  // namespace

::inference::ServerMetadataResponse DescribeServer(const Context& context) {
  ::inference::ServerMetadataResponse response;
  response.set_name(context.options.server_name);
  response.set_version(context.backend.version);
  response.add_extensions("model_configuration");
  response.add_extensions("parameters");
  response.add_extensions("statistics");
  if (context.control.is_explicit()) {
    response.add_extensions("model_repository");
    response.add_extensions("model_repository(unload_dependents)");
  }
  if (context.backend.regions.on()) response.add_extensions("system_shared_memory");
  return response;
}

::inference::ModelMetadataResponse DescribeModel(const Servable& servable) {
  const Signature& signature = servable.signature();
  ::inference::ModelMetadataResponse response;
  response.set_name(servable.name());
  response.add_versions(servable.version());
  response.set_platform(signature.platform);
  for (const TensorSpec& spec : signature.inputs) {
    if (spec.declared) DescribeTensor(spec, response.add_inputs());
  }
  for (const TensorSpec& spec : signature.outputs) {
    if (spec.declared) DescribeTensor(spec, response.add_outputs());
  }
  for (const auto& [key, value] : servable.Properties()) (*response.mutable_properties())[key] = value;
  (*response.mutable_properties())["optional_inputs"] = NamesOf(signature.inputs, /*optional=*/true);
  (*response.mutable_properties())["optional_outputs"] = NamesOf(signature.outputs, /*optional=*/true);
  (*response.mutable_properties())["output_datatypes"] = DatatypesOf(signature.outputs.front());
  return response;
}

::inference::ModelConfigResponse DescribeConfig(const Servable& servable) {
  const Signature& signature = servable.signature();
  const bool batched = signature.max_batch_size > 0;
  ::inference::ModelConfigResponse response;
  ::inference::ModelConfig& config = *response.mutable_config();
  config.set_name(servable.name());
  config.set_platform(signature.platform);
  config.set_backend(signature.backend);
  config.mutable_version_policy()->mutable_latest()->set_num_versions(1);
  config.set_max_batch_size(static_cast<std::int32_t>(
      std::min<std::int64_t>(signature.max_batch_size, std::numeric_limits<std::int32_t>::max())));
  for (const TensorSpec& spec : signature.inputs) {
    if (!spec.declared) continue;
    ::inference::ModelInput& input = *config.add_input();
    DescribeTensor(spec, batched, &input);
    input.set_optional(spec.optional);
  }
  for (const TensorSpec& spec : signature.outputs) {
    if (spec.declared) DescribeTensor(spec, batched, config.add_output());
  }
  for (const auto& [key, value] : servable.Properties()) (*config.mutable_parameters())[key].set_string_value(value);
  return response;
}

::inference::ModelStatistics DescribeStatistics(const Context& context, const Servable& servable) {
  const service::ModelCounts counts = context.statistics.Of(servable.name());
  ::inference::ModelStatistics message;
  message.set_name(servable.name());
  message.set_version(servable.version());
  message.set_last_inference(static_cast<std::uint64_t>(counts.last_inference_ms));
  message.set_inference_count(counts.rows);
  message.set_execution_count(counts.success.count);
  ::inference::InferStatistics& stats = *message.mutable_inference_stats();
  Set(counts.success, stats.mutable_success());
  Set(counts.fail, stats.mutable_fail());
  Set(counts.queue, stats.mutable_queue());
  Set(counts.input, stats.mutable_compute_input());
  Set(counts.compute, stats.mutable_compute_infer());
  Set(counts.output, stats.mutable_compute_output());
  Set({}, stats.mutable_cache_hit());
  Set({}, stats.mutable_cache_miss());
  for (const service::ModelCounts::Batch& batch : counts.by_batch_size) {
    ::inference::InferBatchStatistics& each = *message.add_batch_stats();
    each.set_batch_size(static_cast<std::uint64_t>(batch.size));
    Set(batch.input, each.mutable_compute_input());
    Set(batch.compute, each.mutable_compute_infer());
    Set(batch.output, each.mutable_compute_output());
  }
  ::inference::MemoryUsage& memory = *message.add_memory_usage();
  memory.set_type("CPU");
  memory.set_byte_size(static_cast<std::uint64_t>(servable.byte_size()));
  return message;
}

}  // namespace embd::oip

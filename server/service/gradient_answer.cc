#include "server/service/gradient_answer.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "embd/v1/embedding.pb.h"
#include "proto/wire/data_type.h"
#include "server/core/engine/gradient_plan.h"
#include "server/core/engine/output_side.h"
#include "server/core/error.h"
#include "server/service/embed_request.h"
#include "server/service/output_type.h"
#include "server/service/shared_work.h"

namespace embd::service {
namespace {

using core::InvalidArgument;
using Interrupted = absl::FunctionRef<absl::Status()>;

absl::Status CheckFloat32(absl::string_view field, v1::DataType type) {
  if (type == v1::DATA_TYPE_FLOAT32) return absl::OkStatus();
  if (!v1::DataType_IsValid(type)) return UnknownEnum(absl::StrCat(field, ".data_type"), type, "FLOAT32");
  return InvalidArgument("INVALID_OPTION",
                         absl::StrCat(field, ".data_type is ", wire::DataTypeName(type), "; allowed is FLOAT32"));
}

// The bytes of a message's string are aligned for any type.
std::span<const float> FloatsOf(const v1::Tensor& tensor) {
  return {reinterpret_cast<const float*>(tensor.data().data()), tensor.data().size() / sizeof(float)};
}

absl::StatusOr<std::vector<core::TableRole>> ToRoles(const core::Model& model, const v1::GradientRequest& request) {
  std::vector<core::TableRole> roles;
  for (int i = 0; i < request.tables_size(); ++i) {
    const std::string field = absl::StrCat("tables[", i, "]");
    switch (request.tables(i)) {
      case v1::TABLE_KIND_TOKEN: roles.push_back(core::TableRole::kToken); break;
      case v1::TABLE_KIND_POSITION: roles.push_back(core::TableRole::kPosition); break;
      case v1::TABLE_KIND_TOKEN_TYPE: roles.push_back(core::TableRole::kTokenType); break;
      case v1::TABLE_KIND_OUTPUT:
        return core::Error(
            absl::StatusCode::kFailedPrecondition, "NO_SUCH_TABLE",
            absl::StrCat(field, " = OUTPUT: model ", core::Quote(model.name()), " has no such table of its own"));
      default: return UnknownEnum(field, request.tables(i), "TOKEN, POSITION, TOKEN_TYPE");
    }
  }
  return roles;
}

v1::TableKind ToKind(core::TableRole role) {
  switch (role) {
    case core::TableRole::kToken: return v1::TABLE_KIND_TOKEN;
    case core::TableRole::kPosition: return v1::TABLE_KIND_POSITION;
    case core::TableRole::kTokenType: break;
  }
  return v1::TABLE_KIND_TOKEN_TYPE;
}

// The batch of the request, as Embed would get it.
v1::EmbedRequest BatchOf(const v1::GradientRequest& request) {
  v1::EmbedRequest batch;
  *batch.mutable_ids() = request.ids();
  batch.set_batch_size(request.batch_size());
  batch.set_sequence_length(request.sequence_length());
  batch.set_part(request.part());
  *batch.mutable_position_offsets() = request.position_offsets();
  *batch.mutable_position_ids() = request.position_ids();
  *batch.mutable_token_type_ids() = request.token_type_ids();
  *batch.mutable_row_lengths() = request.row_lengths();
  *batch.mutable_attention_mask() = request.attention_mask();
  if (request.has_ids_tensor()) *batch.mutable_ids_tensor() = request.ids_tensor();
  return batch;
}

absl::StatusOr<core::GradientPlan> PlanGradient(const Backend& backend, std::shared_ptr<const core::Model> model,
                                                const v1::GradientRequest& request) {
  if (!request.has_output_gradient()) return InvalidArgument("INVALID_SHAPE", "output_gradient is missing");
  const v1::Tensor& gradient = request.output_gradient();
  if (absl::Status status = CheckFloat32("output_gradient", gradient.data_type()); !status.ok()) return status;
  auto roles = ToRoles(*model, request);
  if (!roles.ok()) return roles.status();
  v1::EmbedRequest batch = BatchOf(request);
  auto input = ToEmbedInput(&batch);
  if (!input.ok()) return input.status();
  return core::GradientPlan::Create(std::move(model),
                                    {.batch = *std::move(input),
                                     .gradient_shape = {gradient.shape().begin(), gradient.shape().end()},
                                     .gradient_bytes = gradient.data().size(),
                                     .tables = *std::move(roles)},
                                    backend.limits);
}

// Adds the table with room for its rows.
core::GradientPlan::Destination AddTable(const core::TableGradient& table, v1::GradientResponse* response) {
  const auto& ids = table.mentions.rows();
  const auto& counts = table.mentions.cell_counts();
  v1::TableGradient& message = *response->add_tables();
  message.set_table(ToKind(table.role));
  message.set_trainable(table.trainable);
  message.set_table_rows(table.table->rows());
  message.set_touched_rows(static_cast<std::int64_t>(ids.size()));
  if (!table.trainable) return {};
  message.mutable_row_ids()->Assign(ids.begin(), ids.end());
  message.mutable_counts()->Assign(counts.begin(), counts.end());
  message.mutable_row_norms()->Resize(static_cast<int>(ids.size()), 0.0);
  v1::Tensor& rows = *message.mutable_rows();
  rows.set_data_type(v1::DATA_TYPE_FLOAT32);
  rows.add_shape(static_cast<std::int64_t>(ids.size()));
  rows.add_shape(table.table->dim());
  const std::size_t elements = ids.size() * static_cast<std::size_t>(table.table->dim());
  rows.mutable_data()->resize(elements * sizeof(float));
  return {.rows = {reinterpret_cast<float*>(rows.mutable_data()->data()), elements},
          .norms = {message.mutable_row_norms()->mutable_data(), ids.size()}};
}

absl::Status AnswerBatch(Backend& backend, std::shared_ptr<const core::Model> model, const v1::GradientRequest& request,
                         Interrupted interrupted, v1::GradientResponse* response) {
  const auto plan = PlanGradient(backend, std::move(model), request);
  if (!plan.ok()) return plan.status();
  const auto counted = backend.buffers->Count(static_cast<std::size_t>(plan->result_bytes()) + plan->working_bytes());
  if (!counted.ok()) return counted.status();
  std::vector<core::GradientPlan::Destination> destinations;
  for (const core::TableGradient& table : plan->tables()) destinations.push_back(AddTable(table, response));
  return plan->Run(FloatsOf(request.output_gradient()), destinations, [&](std::int64_t count, auto piece) {
    return ShareWork(backend.workers, count, piece, interrupted);
  });
}

absl::Status CheckNothingOfABatch(const v1::GradientRequest& request) {
  const std::pair<bool, const char*> fields[] = {{request.ids_size() > 0, "ids"},
                                                 {request.has_ids_tensor(), "ids_tensor"},
                                                 {request.batch_size() != 0, "batch_size"},
                                                 {request.sequence_length() != 0, "sequence_length"},
                                                 {request.position_offsets_size() > 0, "position_offsets"},
                                                 {request.position_ids_size() > 0, "position_ids"},
                                                 {request.token_type_ids_size() > 0, "token_type_ids"},
                                                 {request.row_lengths_size() > 0, "row_lengths"},
                                                 {request.attention_mask_size() > 0, "attention_mask"},
                                                 {request.has_output_gradient(), "output_gradient"},
                                                 {request.part() > v1::PART_COMPOSED, "part"}};
  for (const auto& [is_given, name] : fields) {
    if (is_given)
      return InvalidArgument("INVALID_OPTION", absl::StrCat("output_side and ", name, " exclude each other"));
  }
  return absl::OkStatus();
}

// The one table that can be asked for is that of tokens.
absl::Status CheckTables(const core::Model& model, const v1::GradientRequest& request) {
  const auto roles = ToRoles(model, request);
  if (!roles.ok()) return roles.status();
  for (std::size_t i = 0; i < roles->size(); ++i) {
    if (i == 0 && (*roles)[i] == core::TableRole::kToken) continue;
    return InvalidArgument("INVALID_OPTION", absl::StrCat("tables[", i, "] = ", core::TableRoleName((*roles)[i]),
                                                          ": output_side has the gradient of TOKEN, once"));
  }
  return absl::OkStatus();
}

absl::Status CheckHidden(const core::Model& model, const v1::OutputSide& side) {
  const v1::Tensor& hidden = side.hidden();
  if (absl::Status status = CheckFloat32("output_side.hidden", hidden.data_type()); !status.ok()) return status;
  const auto count = static_cast<std::int64_t>(side.target_ids_size());
  const std::int64_t dim = model.embedding_dim();
  if (hidden.shape_size() != 2 || hidden.shape(0) != count || hidden.shape(1) != dim) {
    return InvalidArgument("INVALID_SHAPE",
                           absl::StrCat("output_side.hidden has shape (", absl::StrJoin(hidden.shape(), ", "),
                                        "), expected (", count, ", ", dim, "): ", count, " target_ids, embedding_dim ",
                                        dim, " of model ", core::Quote(model.name())));
  }
  const std::size_t bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(dim) * sizeof(float);
  if (hidden.data().size() == bytes) return absl::OkStatus();
  return InvalidArgument("INVALID_SHAPE", absl::StrCat("output_side.hidden has ", hidden.data().size(), " bytes, but (",
                                                       count, ", ", dim, ") FLOAT32 needs ", bytes));
}

absl::Status CheckOutputSide(const Backend& backend, const core::Model& model, const v1::GradientRequest& request) {
  if (absl::Status status = CheckNothingOfABatch(request); !status.ok()) return status;
  if (absl::Status status = CheckTables(model, request); !status.ok()) return status;
  if (absl::Status status = CheckHidden(model, request.output_side()); !status.ok()) return status;
  const std::int64_t norm_bytes = model.vocab_size() * static_cast<std::int64_t>(sizeof(double));
  if (norm_bytes <= backend.limits.max_response_bytes) return absl::OkStatus();
  return core::Error(
      absl::StatusCode::kResourceExhausted, "RESPONSE_TOO_LARGE",
      absl::StrCat("the norms of ", model.vocab_size(), " rows need ", norm_bytes,
                   " bytes, which exceeds max_response_bytes ", backend.limits.max_response_bytes, " of this server"));
}

absl::Status AnswerOutputSide(Backend& backend, const core::Model& model, const v1::GradientRequest& request,
                              Interrupted interrupted, v1::GradientResponse* response) {
  if (absl::Status status = CheckOutputSide(backend, model, request); !status.ok()) return status;
  const core::ModelTable& token = model.token();
  const v1::OutputSide& side = request.output_side();
  const std::span<const std::int64_t> targets(side.target_ids().data(),
                                              static_cast<std::size_t>(side.target_ids_size()));
  const auto gradient = core::GradientOfOutputSide(
      token.table, targets, FloatsOf(side.hidden()),
      [&](std::int64_t count, auto piece) { return ShareWork(backend.diagnostics, count, piece, interrupted); });
  if (!gradient.ok()) return gradient.status();
  response->set_loss(gradient->loss);
  v1::TableGradient& message = *response->add_tables();
  message.set_table(v1::TABLE_KIND_TOKEN);
  message.set_trainable(token.trainable);
  message.set_table_rows(token.table.rows());
  message.set_touched_rows(token.table.rows());
  message.mutable_row_norms()->Assign(gradient->row_norms.begin(), gradient->row_norms.end());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::GradientResponse> AnswerGradient(Backend& backend, const v1::GradientRequest& request,
                                                    Interrupted interrupted) {
  const auto model = backend.models.Find(request.model(), request.model_version());
  if (!model.ok()) return model.status();
  v1::GradientResponse response;
  response.set_model((*model)->name());
  response.set_model_version((*model)->version());
  absl::Status status = request.has_output_side() ? AnswerOutputSide(backend, **model, request, interrupted, &response)
                                                  : AnswerBatch(backend, *model, request, interrupted, &response);
  if (!status.ok()) return status;
  if (absl::Status damaged = (*model)->CheckUndamaged(); !damaged.ok()) return damaged;
  return response;
}

}  // namespace embd::service

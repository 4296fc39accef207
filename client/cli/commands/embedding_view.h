#ifndef EMBD_CLIENT_CLI_COMMANDS_EMBEDDING_VIEW_H_
#define EMBD_CLIENT_CLI_COMMANDS_EMBEDDING_VIEW_H_

#include "absl/status/statusor.h"
#include "client/cli/files/tensor.h"
#include "embd/client/embedding.h"

namespace embd::cli {

/// The type of elements that files and renderings call by the same name.
///
/// Errors:
///   INTERNAL  embeddings never have that type.
[[nodiscard]] absl::StatusOr<DataType> ElementTypeOf(client::DataType type);

/// The type that the wire calls by the same name.
[[nodiscard]] client::DataType WireTypeOf(DataType type);

/// A look at an embedding, valid as long as the embedding is. Errors as `ElementTypeOf`.
[[nodiscard]] absl::StatusOr<TensorView> ViewOf(const client::Embedding& embedding);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_EMBEDDING_VIEW_H_

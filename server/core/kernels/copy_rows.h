#ifndef EMBD_SERVER_CORE_KERNELS_COPY_ROWS_H_
#define EMBD_SERVER_CORE_KERNELS_COPY_ROWS_H_

#include "server/core/kernels/compose.h"

namespace embd::core {

/// Copies the rows of the first term, which is stored in the output type, bit for bit; nothing else is looked at.
/// Thread safety: thread-safe. Cost: one pass; no lock, no allocation, no log.
void CopyRows(const ComposeArguments& arguments);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_KERNELS_COPY_ROWS_H_

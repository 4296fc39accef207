#ifndef EMBD_TESTS_INTEGRATION_ROUTES_BROKEN_REQUESTS_H_
#define EMBD_TESTS_INTEGRATION_ROUTES_BROKEN_REQUESTS_H_

#include <string>

#include "embd/v1/embedding.pb.h"
#include "tests/integration/oip/infer_call.h"
#include "tests/integration/routes/draw.h"

namespace embd::testing {

/// Breaks one to three things of a valid request; what comes out may still be valid by chance. `region` is the name of
/// one that there is.
void Spoil(Draw& draw, const std::string& region, v1::EmbedRequest* request);

/// The same of a request that HasInferForm, which stays so, but for versions that are no number: what
/// is broken is for the engine to find.
void SpoilForEngine(Draw& draw, v1::EmbedRequest* request);

/// The same of a request of the Open Inference Protocol, where it can be written raw, typed and in shared memory
/// alike.
void Spoil(Draw& draw, InferCall* call);

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_ROUTES_BROKEN_REQUESTS_H_

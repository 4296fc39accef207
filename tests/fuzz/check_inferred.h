#ifndef EMBD_TESTS_FUZZ_CHECK_INFERRED_H_
#define EMBD_TESTS_FUZZ_CHECK_INFERRED_H_

#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/architectures/infer_model.h"
#include "tests/fuzz/fuzzing.h"

namespace embd::fuzz {

/// Infers the model at `path`, and checks the refusal, or what is said of the model.
inline void CheckInferred(const std::string& path) {
  const auto inferred = architectures::InferModel({.name = "m", .path = path});
  if (!inferred.ok()) return CheckRefusal(inferred.status(), path);
  for (const auto& [key, value, source] : inferred->inferred_from) {
    CheckText(absl::StrCat(key, ": ", value, " (", source, ")"));
  }
  for (const std::string& note : inferred->notes) CheckText(note);
  if (inferred->architecture.empty()) Fail("a model that is inferred has an architecture");
  if (!std::holds_alternative<config::TableFile>(inferred->model.token)) Fail("its tokens have a file");
}

}  // namespace embd::fuzz

#endif  // EMBD_TESTS_FUZZ_CHECK_INFERRED_H_

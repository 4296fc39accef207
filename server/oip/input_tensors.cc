#include "server/oip/input_tensors.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"
#include "server/core/tensor/checked_math.h"
#include "server/oip/infer_parameters.h"
#include "server/oip/quote.h"
#include "server/oip/region_span.h"
#include "server/oip/typed_contents.h"

namespace embd::oip {
namespace {

using Message = ::inference::ModelInferRequest::InferInputTensor;

template <typename... Parts>
absl::Status Invalid(const char* reason, const Parts&... parts) {
  return core::InvalidArgument(reason, absl::StrCat(parts...));
}

// "'x' for model 'm'", as most sentences end.
std::string OfModel(const std::string& input, const Servable& servable) {
  return absl::StrCat(InQuotes(input), " for model ", InQuotes(servable.name()));
}

std::string NameList(const std::vector<std::string>& names) {
  return absl::StrCat(
      "[", absl::StrJoin(names, ",", [](std::string* out, const auto& name) { absl::StrAppend(out, InQuotes(name)); }),
      "]");
}

// The messages of the signature's inputs, null where there is none.
absl::StatusOr<std::vector<const Message*>> ByName(const Servable& servable,
                                                   const ::inference::ModelInferRequest& request) {
  const std::vector<TensorSpec>& specs = servable.signature().inputs;
  std::vector<const Message*> messages(specs.size(), nullptr);
  for (const Message& message : request.inputs()) {
    const auto spec =
        std::find_if(specs.begin(), specs.end(), [&](const TensorSpec& each) { return each.name == message.name(); });
    if (spec == specs.end()) {
      return Invalid("INVALID_OPTION", "unexpected inference input ", OfModel(message.name(), servable));
    }
    const Message*& slot = messages[static_cast<std::size_t>(spec - specs.begin())];
    if (slot != nullptr) {
      return Invalid("INVALID_OPTION", "input ", InQuotes(message.name()), " already exists in request");
    }
    slot = &message;
  }
  return messages;
}

absl::Status CheckComplete(const Servable& servable, const ::inference::ModelInferRequest& request,
                           const std::vector<const Message*>& messages) {
  const std::vector<TensorSpec>& specs = servable.signature().inputs;
  const auto is_given = [&](absl::string_view name) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].name == name) return messages[i] != nullptr;
    }
    return false;
  };
  std::vector<std::string> missing;
  std::size_t required = 0, declared = 0;
  for (const TensorSpec& spec : specs) {
    declared += spec.declared ? 1 : 0;
    required += spec.optional ? 0 : 1;
    if (!spec.optional && !is_given(spec.name) && !is_given(spec.stand_in)) missing.push_back(spec.name);
  }
  if (missing.empty()) return absl::OkStatus();
  std::vector<std::string> given;
  for (const Message& message : request.inputs()) given.push_back(message.name());
  const std::string expected = required == declared
                                   ? absl::StrCat("expected ", declared, " inputs")
                                   : absl::StrCat("expected number of inputs between ", required, " and ", declared);
  return Invalid("INVALID_OPTION", expected, " but got ", given.size(), " inputs for model ", InQuotes(servable.name()),
                 ". Got input(s) ", NameList(given), ", but missing required input(s) ", NameList(missing),
                 ". Please provide all required input(s).");
}

absl::Status CheckShape(const Servable& servable, const TensorSpec& spec, std::span<const std::int64_t> shape) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 0; })) {
    return Invalid("INVALID_SHAPE", "All input dimensions should be specified for input ", OfModel(spec.name, servable),
                   ", got ", InBrackets(shape));
  }
  bool matches = shape.size() == spec.shape.size();
  for (std::size_t i = 0; matches && i < shape.size(); ++i) matches = spec.shape[i] == -1 || spec.shape[i] == shape[i];
  if (matches) return absl::OkStatus();
  return Invalid("INVALID_SHAPE", "unexpected shape for input ", OfModel(spec.name, servable), ". Expected ",
                 InBrackets(spec.shape), ", got ", InBrackets(shape));
}

// Nothing where it exceeds 2^63 - 1.
std::optional<std::int64_t> ByteSize(const InputTensor& tensor) {
  std::optional<std::int64_t> bytes = DatatypeSize(tensor.datatype);
  if (std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end()) return 0;
  for (const std::int64_t extent : tensor.shape) {
    if (bytes.has_value()) bytes = core::CheckedProduct({*bytes, extent});
  }
  return bytes;
}

// Reads the inputs one after the other.
class Reader {
 public:
  Reader(const service::Backend& backend, const service::Call& call, const Servable& servable,
         ::inference::ModelInferRequest* request)
      : backend_(backend), call_(call), servable_(servable), request_(*request) {}

  // Which entry of raw_input_contents belongs to which input is decided by the order of the request, so the entries are
  // handed out before inputs are read in the order of the signature.
  absl::Status HandOutRawContents() {
    int next = 0;
    for (const Message& message : request_.inputs()) {
      auto part = ReadRegionPart(message.name(), message.parameters());
      if (!part.ok()) return part.status();
      const bool raw = !part->has_value() && next < request_.raw_input_contents_size();
      sources_.push_back({.message = &message, .part = *std::move(part), .raw = raw ? next++ : -1});
    }
    left_over_ = request_.raw_input_contents_size() - next;
    return absl::OkStatus();
  }

  absl::StatusOr<InputTensor> Read(const TensorSpec& spec, const Message& message) {
    InputTensor tensor = {.spec = &spec, .datatype = ParseDatatype(message.datatype())};
    const Source& source =
        *std::find_if(sources_.begin(), sources_.end(), [&](const Source& each) { return each.message == &message; });
    if (absl::Status status = CheckSource(source); !status.ok()) return status;
    if (std::find(spec.datatypes.begin(), spec.datatypes.end(), tensor.datatype) == spec.datatypes.end()) {
      return Invalid("INVALID_OPTION", "inference input ", InQuotes(spec.name), " data-type is ",
                     InQuotes(message.datatype()), ", but model ", InQuotes(servable_.name()), " expects '",
                     DatatypeName(spec.datatypes.front()), "'");
    }
    const std::span<const std::int64_t> shape(message.shape().data(), static_cast<std::size_t>(message.shape_size()));
    if (absl::Status status = CheckShape(servable_, spec, shape); !status.ok()) return status;
    tensor.shape.assign(shape.begin(), shape.end());
    auto data = source.part.has_value() ? CopyOut(*source.part, tensor) : TakeData(source, tensor.datatype);
    if (!data.ok()) return data.status();
    tensor.data = *std::move(data);
    if (absl::Status status = CheckSize(tensor, static_cast<std::int64_t>(tensor.data.size())); !status.ok()) {
      return status;
    }
    return tensor;
  }

  absl::Status CheckNothingLeftOver() const {
    if (left_over_ == 0) return absl::OkStatus();
    return Invalid("INVALID_OPTION", "raw_input_contents has ", request_.raw_input_contents_size(),
                   " entries, but only ", request_.raw_input_contents_size() - left_over_,
                   " inputs take one for model ", InQuotes(servable_.name()));
  }

 private:
  // Where the data of an input is: in a region, in an entry of the raw contents, or (-1) typed.
  struct Source {
    const Message* message;
    std::optional<RegionPart> part;
    int raw;
  };

  absl::Status CheckSource(const Source& source) const {
    const std::string where = OfModel(source.message->name(), servable_);
    if (source.part.has_value()) {
      if (!source.message->has_contents()) return absl::OkStatus();
      return Invalid("INVALID_OPTION", "unexpected 'content' provided when using shared memory for input tensor ",
                     where);
    }
    if (source.message->has_contents() && request_.raw_input_contents_size() > 0) {
      return Invalid("INVALID_OPTION", "contents field must not be specified when using raw_input_contents for ",
                     where);
    }
    if (source.raw >= 0 || source.message->has_contents()) return absl::OkStatus();
    return Invalid("INVALID_OPTION", "unable to find data for input tensor ", where, " in request.");
  }

  absl::StatusOr<std::string> TakeData(const Source& source, Datatype datatype) {
    if (source.raw >= 0) return std::move(*request_.mutable_raw_input_contents(source.raw));
    return RawContents(source.message->contents(), datatype, OfModel(source.message->name(), servable_));
  }

  absl::StatusOr<std::string> CopyOut(const RegionPart& part, const InputTensor& tensor) const {
    auto span = FindRegionSpan(backend_, call_, part);
    if (!span.ok()) return span.status();
    if (absl::Status status = CheckSize(tensor, part.byte_size); !status.ok()) return status;
    if (part.byte_size > backend_.max_request_bytes) {
      return core::Error(
          absl::StatusCode::kResourceExhausted, "REQUEST_TOO_LARGE",
          absl::StrCat("an input of ", part.byte_size, " bytes in shared memory exceeds max_request_bytes ",
                       backend_.max_request_bytes, " of this server; split the batch"));
    }
    std::string copy(reinterpret_cast<const char*>(span->bytes.data()), span->bytes.size());
    if (absl::Status status = CheckUndamaged(part, *span); !status.ok()) return status;
    return copy;
  }

  absl::Status CheckSize(const InputTensor& tensor, std::int64_t bytes) const {
    const std::optional<std::int64_t> expected = ByteSize(tensor);
    if (expected == bytes) return absl::OkStatus();
    return Invalid("INVALID_SHAPE", "input byte size mismatch for input ", OfModel(tensor.spec->name, servable_),
                   ". Expected ", expected.has_value() ? absl::StrCat(*expected) : "more than 2^63 - 1", ", got ",
                   bytes);
  }

  const service::Backend& backend_;
  const service::Call& call_;
  const Servable& servable_;
  ::inference::ModelInferRequest& request_;
  std::vector<Source> sources_;  // in the order of the request
  int left_over_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<InputTensor>> ReadInputs(const service::Backend& backend, const service::Call& call,
                                                    const Servable& servable, ::inference::ModelInferRequest* request) {
  const auto messages = ByName(servable, *request);
  if (!messages.ok()) return messages.status();
  if (absl::Status status = CheckComplete(servable, *request, *messages); !status.ok()) return status;
  Reader reader(backend, call, servable, request);
  if (absl::Status status = reader.HandOutRawContents(); !status.ok()) return status;
  std::vector<InputTensor> inputs;
  for (std::size_t i = 0; i < messages->size(); ++i) {
    if ((*messages)[i] == nullptr) continue;
    auto tensor = reader.Read(servable.signature().inputs[i], *(*messages)[i]);
    if (!tensor.ok()) return tensor.status();
    inputs.push_back(*std::move(tensor));
  }
  if (absl::Status status = reader.CheckNothingLeftOver(); !status.ok()) return status;
  return inputs;
}

}  // namespace embd::oip

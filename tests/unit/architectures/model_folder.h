#ifndef EMBD_TESTS_UNIT_ARCHITECTURES_MODEL_FOLDER_H_
#define EMBD_TESTS_UNIT_ARCHITECTURES_MODEL_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/architectures/infer_model.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::architectures {

/// A float32 tensor of a test's checkpoint. Tensors of the same shape differ unless `content` is the same text.
struct TestTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string content = "";  ///< empty: the name
};

/// The bytes of a .safetensors file with those tensors.
inline std::string Safetensors(const std::vector<TestTensor>& tensors) {
  std::vector<std::string> entries;
  std::string data;
  for (const TestTensor& tensor : tensors) {
    std::int64_t count = 1;
    for (const std::int64_t size : tensor.shape) count *= size;
    const auto seed = std::hash<std::string>()(tensor.content.empty() ? tensor.name : tensor.content);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((seed + i) % 1000) / 1000.0f;
    const std::size_t begin = data.size();
    data += formats::Raw(values);
    entries.push_back(formats::Entry(tensor.name, "F32", absl::StrCat("[", absl::StrJoin(tensor.shape, ","), "]"),
                                     begin, data.size()));
  }
  return formats::SafetensorsFile(formats::Header(entries), data);
}

/// A temporary folder with a config.json and a model.safetensors.
class ModelFolder {
 public:
  ModelFolder(const std::string& config, const std::vector<TestTensor>& tensors, const std::string& below = "") {
    if (!below.empty()) std::filesystem::create_directory(folder_.Path(below));
    const std::string prefix = below.empty() ? "" : below + "/";
    (void)folder_.Write(prefix + "config.json", config);
    (void)folder_.Write(prefix + "model.safetensors", Safetensors(tensors));
  }

  void Write(const std::string& name, const std::string& bytes) const { (void)folder_.Write(name, bytes); }
  [[nodiscard]] std::string Path(const std::string& name) const { return folder_.Path(name); }

  /// Infers the model of this folder; `given` need not have the path.
  [[nodiscard]] absl::StatusOr<InferredModel> Infer(config::ModelConfig given = {}) const {
    given.name = "m";
    std::string path = folder_.Path("");
    path.pop_back();
    given.path = path;
    return InferModel(given);
  }

 private:
  formats::ScratchFolder folder_;
};

}  // namespace embd::architectures

#endif  // EMBD_TESTS_UNIT_ARCHITECTURES_MODEL_FOLDER_H_

#include "tests/bench/kernel_report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <utility>

#include "tests/bench/medians.h"

namespace embd::bench {
namespace {

// The median over the rounds of other's time by way's.
nlohmann::json Ratio(const Way& way, const Way* other) {
  if (other == nullptr || other->seconds.size() != way.seconds.size()) return nullptr;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < way.seconds.size(); ++i) ratios.push_back(other->seconds[i] / way.seconds[i]);
  return Median(std::move(ratios));
}

// The way of that name; of those of memcpy the one that writes as many bytes as `like`.
const Way* Find(const std::vector<Way>& ways, const std::string& name, const Way& like) {
  const bool copies = name == kMemcpyHot || name == kMemcpyCold;
  const auto found = std::find_if(ways.begin(), ways.end(), [&](const Way& way) {
    return way.name == name && (!copies || way.bytes == like.bytes);
  });
  return found == ways.end() ? nullptr : &*found;
}

}  // namespace

KernelReport::KernelReport(nlohmann::json settings) : json_(std::move(settings)) {
  std::printf("%s\n\n", json_.dump().c_str());
  std::printf(
      "| (B,T) | what | MB | us | MB/s | of memcpy hot | of memcpy cold | of torch | of torch, memory kept |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  json_["results"] = nlohmann::json::array();
}

void KernelReport::Add(Shape shape, const std::vector<Way>& ways) {
  for (const Way& way : ways) {
    if (way.seconds.empty()) continue;
    const double seconds = Median(way.seconds);
    const double megabytes = static_cast<double>(way.bytes) / 1e6;
    nlohmann::json line = {{"batch_size", shape.batch}, {"sequence_length", shape.tokens},
                           {"what", way.name},          {"bytes", way.bytes},
                           {"us", seconds * 1e6},       {"megabytes_per_second", megabytes / seconds}};
    std::printf("| (%ld,%ld) | %s | %.3f | %.2f | %.0f |", static_cast<long>(shape.batch),
                static_cast<long>(shape.tokens), way.name.c_str(), megabytes, seconds * 1e6, megabytes / seconds);
    const std::pair<const char*, const char*> others[] = {{"of_memcpy_hot", kMemcpyHot},
                                                          {"of_memcpy_cold", kMemcpyCold},
                                                          {"of_torch", kTorch},
                                                          {"of_torch_keeping_memory", kTorchKeepingMemory}};
    for (const auto& [key, name] : others) {
      line[key] = Ratio(way, Find(ways, name, way));
      line[key].is_null() ? std::printf(" |") : std::printf(" %.2f |", line[key].get<double>());
    }
    std::printf("\n");
    json_["results"].push_back(std::move(line));
  }
  std::fflush(stdout);
}

bool KernelReport::Write(const std::string& path, const std::string& torch) {
  json_["torch"] = torch;
  std::ofstream file(path);
  file << json_.dump(2) << "\n";
  return static_cast<bool>(file.flush());
}

}  // namespace embd::bench

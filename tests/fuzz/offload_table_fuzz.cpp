// Reading anything as tables of kernels, of layers and of shapes.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "models/host/offload/import_samples.hpp"

using namespace idletune;
using namespace idletune::offload;

namespace {

void check(const Result<SampleSet>& set) {
  if (!set.ok()) return;
  for (const Sample& sample : set->samples) {
    if (sample.features.size() != set->features.names.size()) std::abort();
    if (!is_time_ms(sample.cpu_ms) || !is_time_ms(sample.best_gpu_ms())) std::abort();
    for (const double value : sample.features) {
      if (!std::isfinite(value)) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  check(import_device_mapping(bytes, "kernels"));
  check(import_characterized_kernels(bytes, "features", bytes, "times", "cpu"));
  check(import_layers(bytes, "times", bytes, "shapes"));
  check(import_tuned_layers(bytes, "gpu", bytes, "cpu"));
  // Two tables in one, parted by the first form feed.
  std::size_t cut = 0;
  while (cut < size && data[cut] != '\f') ++cut;
  if (cut < size) {
    check(import_layers({data, cut}, "times", {data + cut + 1, size - cut - 1}, "shapes"));
    check(import_characterized_kernels({data, cut}, "features", {data + cut + 1, size - cut - 1},
                                       "times", "cpu"));
  }
  return 0;
}

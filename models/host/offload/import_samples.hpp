// Reading what others measured on CPUs and GPUs. Host side. What each reader does with which wart
// is said in models/host/offload/README.md.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/host/offload/profile.hpp"
#include "models/host/offload/sample.hpp"

namespace idletune {
class CommaTable;
}

namespace idletune::offload {

class LayerProfiles;

// Times outside (0, 1e6) milliseconds are no times: timers that wrapped, or nothing was measured.
bool is_time_ms(double ms);

using Repeats = std::map<std::string, std::vector<double>>;  // times by variant
// Of the variant; not a number where it was not timed.
double median_or_nan(const Repeats& repeats, const std::string& variant);

// Takes the row's device, of which a set has one. Error: invalid_argument that names it and
// `device`.
Status take_device(const CommaTable& table, std::size_t row, std::string& device);

// One of the two tables of Cummins et al. 2017: OpenCL kernels on a CPU and on one GPU, transfers
// included. Errors: corrupt (columns are missing; a feature is no number; nothing is left).
Result<SampleSet> import_device_mapping(Bytes table, const std::string& path);

// OpenDwarfs with architecture-independent features (Johnston et al. 2018): a table of features and
// one of median times. Every device but `cpu` is a variant; the CPU's times are those of `cpu`.
// Errors: as above; not_found if no row is of that CPU (lists the devices).
Result<SampleSet> import_characterized_kernels(Bytes features, const std::string& features_path,
                                               Bytes times, const std::string& times_path,
                                               const std::string& cpu);

// Layers of neural networks on one board, with the layers' shapes. Features are static: computed
// from a layer's shape and batch. Medians over repeats; the CPU's time is that of its fastest
// variant. With `profiles` features are profiled_features() of loops like the layer, and layers
// that were not profiled are left out. Errors: as above.
Result<SampleSet> import_layers(Bytes times, const std::string& times_path, Bytes shapes,
                                const std::string& shapes_path,
                                const LayerProfiles* profiles = nullptr);

// One layer of that table of shapes, not timed: cpu_ms is NaN. Error: not_found.
Result<Sample> import_layer_shape(Bytes shapes, const std::string& shapes_path,
                                  const std::string& network, const std::string& layer,
                                  double batch);

// Convolutions that AutoTVM tuned on the CPU and on the GPU of one board: its logs, a line of JSON
// for each. The same workload in both, by the board's name; the best time of each. Features are
// those of import_layers(). Errors: as above.
Result<SampleSet> import_tuned_layers(Bytes gpu_log, const std::string& gpu_path, Bytes cpu_log,
                                      const std::string& cpu_path);

// Profiles of regions that were timed on the CPU, and a table of GPU times: columns region,
// variant, gpu_ms (of all of the region's entries together, as the profile's cpu_ms; of repeats the
// median counts); where it has columns program, suite, kind, these groups count, and device names
// the set's, which is one. Regions without one of the times are left out, and remarked.
Result<SampleSet> import_profiled(const Profile& profile, Bytes times,
                                  const std::string& times_path);

}  // namespace idletune::offload

// A GPU that little or nothing was measured on: predicted from the other ones. Host side.
#pragma once

#include <cstddef>

#include <idletune/result.hpp>

#include "models/host/offload/predictor.hpp"

namespace idletune::offload {

// What is left out is a device *and* a group: a sample is predicted from samples of other groups on
// other devices, and from `measured` samples of other groups on its own device.
struct NewDeviceOptions {
  SpeedupOptions learner;
  GroupBy group = GroupBy::program;
  std::size_t measured = 0;
  std::size_t repeats = 10;  // draws of what was measured, by seeds from learner.seed on
};

struct NewDeviceResult {
  double error_median = 0;     // of |predicted - T| / T, over all samples and repeats
  double error_log = 0;        // mean of |ln(predicted / T)|
  double ratio_geometric = 1;  // of the choices over the better of CPU and this GPU
  double always_cpu_geometric = 1;
  double always_gpu_geometric = 1;
  std::size_t left_out = 0;  // samples without a time on the device, or on every other one
};

// The speed-up is predicted as that of the other devices' mean, plus how this device differs from
// them on what was measured, shrunk by how much devices differ as a whole (tau²) and kernel by
// kernel (sigma²): sum of differences / (measured + sigma² / tau²). `device` is a variant of the
// set. Errors: those of the learner; fewer than three variants.
Result<NewDeviceResult> evaluate_new_device(const SampleSet& set, std::size_t device,
                                            const NewDeviceOptions& options);

}  // namespace idletune::offload

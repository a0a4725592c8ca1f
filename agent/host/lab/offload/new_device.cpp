#include "agent/host/lab/offload/new_device.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "models/core/median.hpp"
#include "models/core/random.hpp"

namespace idletune::offload {

namespace {

// NaN if it was not measured there.
double log_speedup(const Sample& sample, std::size_t device) {
  return std::log(sample.cpu_ms / sample.gpu_ms[device]);
}

// Mean over the devices that are not left out and have a time; NaN if none has.
double mean_of_others(const Sample& sample, std::size_t device, std::size_t and_not) {
  double sum = 0;
  double count = 0;
  for (std::size_t d = 0; d < sample.gpu_ms.size(); ++d) {
    if (d == device || d == and_not || std::isnan(log_speedup(sample, d))) continue;
    sum += log_speedup(sample, d);
    count += 1;
  }
  return sum / count;
}

// sigma² / tau² of the other devices: how many measurements a device's own mean must outweigh.
double shrinkage_of_others(const SampleSet& set, const std::vector<std::size_t>& rows,
                           std::size_t device) {
  double tau = 0;
  double sigma = 0;
  for (std::size_t d = 0; d < set.variants.size(); ++d) {
    if (d == device) continue;
    std::vector<double> differences;
    for (const std::size_t row : rows) {
      const Sample& sample = set.samples[row];
      const double difference = log_speedup(sample, d) - mean_of_others(sample, d, device);
      if (!std::isnan(difference)) differences.push_back(difference);
    }
    const double count = static_cast<double>(differences.size());
    double mean = 0;
    double square = 0;
    for (const double difference : differences) {
      mean += difference / count;
      square += difference * difference / count;
    }
    tau += mean * mean;
    sigma += square - mean * mean;
  }
  return tau > 0 ? sigma / tau : std::numeric_limits<double>::infinity();
}

// The set as if there were one device: the geometric mean of the others.
SampleSet others_as_one(const SampleSet& set, std::size_t device) {
  SampleSet one = set;
  one.variants = {"mean of the others"};
  for (Sample& sample : one.samples) {
    const double mean = mean_of_others(sample, device, device);
    sample.gpu_ms = {sample.cpu_ms / std::exp(mean)};
  }
  return one;
}

struct Tally {
  std::vector<double> errors;
  double log_errors = 0;
  double chosen = 0;
  double cpu = 0;
  double gpu = 0;

  void add(double predicted, double measured) {
    errors.push_back(std::abs(std::exp(measured - predicted) - 1));
    log_errors += std::abs(measured - predicted);
    // ln(time / time of the better device) of keeping and of offloading.
    const double keep = std::max(0.0, measured);
    const double offload = std::max(0.0, -measured);
    chosen += predicted > 0 ? offload : keep;
    cpu += keep;
    gpu += offload;
  }
};

}  // namespace

Result<NewDeviceResult> evaluate_new_device(const SampleSet& set, std::size_t device,
                                            const NewDeviceOptions& options) {
  if (set.variants.size() < 3) {
    return Status(StatusCode::invalid_argument,
                  std::to_string(set.variants.size()) +
                      " devices: at least three are needed to leave one out");
  }
  const SampleSet others = others_as_one(set, device);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < set.samples.size(); ++i) {
    const Sample& sample = set.samples[i];
    const double difference = log_speedup(sample, device) - mean_of_others(sample, device, device);
    if (!std::isnan(difference)) all.push_back(i);
  }
  const auto parts =
      part_by_group(set, all, options.group, std::numeric_limits<std::size_t>::max());
  Tally tally;
  for (std::size_t left = 0; left < parts.size(); ++left) {
    std::vector<std::size_t> rows;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (k != left) rows.insert(rows.end(), parts[k].begin(), parts[k].end());
    }
    auto learner = make_speedup_learner(options.learner);
    if (!learner.ok()) return learner.status();
    if (Status status = (*learner)->fit(others, rows); !status.ok()) return status;
    const double shrinkage = shrinkage_of_others(set, rows, device);
    for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
      const Permutation draw(rows.size(), options.learner.seed + repeat);
      const std::size_t measured = std::min(options.measured, rows.size());
      double differences = 0;
      for (std::size_t i = 0; i < measured; ++i) {
        const Sample& sample = set.samples[rows[static_cast<std::size_t>(draw(i))]];
        differences += log_speedup(sample, device) - mean_of_others(sample, device, device);
      }
      const double shift = differences / (static_cast<double>(measured) + shrinkage);
      for (const std::size_t row : parts[left])
        tally.add((*learner)->log_speedup(others.samples[row]) + shift,
                  log_speedup(set.samples[row], device));
    }
  }
  NewDeviceResult result;
  result.left_out = set.samples.size() - all.size();
  const double count = static_cast<double>(tally.errors.size());
  result.error_median = median_of(tally.errors);
  result.error_log = tally.log_errors / count;
  result.ratio_geometric = std::exp(tally.chosen / count);
  result.always_cpu_geometric = std::exp(tally.cpu / count);
  result.always_gpu_geometric = std::exp(tally.gpu / count);
  return result;
}

}  // namespace idletune::offload

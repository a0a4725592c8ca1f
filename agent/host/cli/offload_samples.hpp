// The files that the verbs of `idletune offload` learn from and are tried on.
#pragma once

#include "agent/host/cli/command_line.hpp"
#include "models/host/offload/stored_model.hpp"

namespace idletune::cli {

struct SampleFiles {
  std::string set;     // a table, or profiles; empty where `times` says all
  std::string times;   // of layers, of kernels on devices, or GPU times of profiled regions
  std::string shapes;  // of layers
  std::string
      cpu_times;  // of layers that were tuned on both devices; then `times` is the GPU's log
  std::string cpu = "i7-6700k";      // whose times are the CPU's, of kernels on devices
  std::vector<std::string> devices;  // GPUs to take; empty: all that are not the CPU
  std::string variant;               // of the GPU times; empty: the fastest of all
};

// Options "--times", "--shapes", "--cpu-times", "--cpu", "--devices",
// "--variant".
void add_sample_options(Verb& verb, SampleFiles& files);

// Errors name the file. invalid_argument if the files do not fit together.
Result<offload::SampleSet> read_samples(const SampleFiles& files);

// Learning options: "--learner", "--no-cpu-time", "--models", "--seed".
struct LearnerArguments {
  std::string method = "forest";
  bool no_cpu_time = false;
  std::uint64_t models = 100;
  std::uint64_t seed = 1;
};
// `others`: names of learners besides those that a model can hold. Returns the options that say how
// it is learned: all but the seed.
std::vector<Argument> add_learner_options(Verb& verb, LearnerArguments& arguments,
                                          const std::vector<std::string>& others = {});
offload::SpeedupOptions speedup_options(const LearnerArguments& arguments);

// Errors: those of read_file() and of read_offload_model().
Result<offload::OffloadModel> read_offload_file(const std::string& path);
// version_mismatch, with the model's path, if it was learned from other features.
Status check_features(const std::string& path, const offload::FeatureSet& learned,
                      const offload::FeatureSet& asked);

// The file's bytes; errors: those of read_file().
Result<std::vector<std::uint8_t>> read_bytes(const std::string& path);

}  // namespace idletune::cli

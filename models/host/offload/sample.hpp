// What is learned from: code with its features, and how long it took on a CPU and on a GPU. Host
// side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/host/offload/features.hpp"

namespace idletune::offload {

// What a sample belongs to. Samples of one group resemble each other, so whoever tests what was
// learned leaves whole groups out. Empty: the sample says nothing about it.
struct Groups {
  std::string kernel;   // one function, whatever its inputs
  std::string program;  // the application that it is part of
  std::string suite;    // the collection that the program is from
  std::string network;  // for layers of neural networks
  std::string kind;     // of work: "Convolution", "Pooling", ...
};

struct Sample {
  std::string name;  // unique in its set
  Groups groups;
  std::vector<double> features;  // in the order of the set's FeatureSet; finite
  double cpu_ms = 0;             // above 0; NaN: not measured
  std::vector<double> gpu_ms;    // per variant of the set, each above 0 or NaN
  std::uint64_t bytes_in = 0;    // what a GPU reads of it and the CPU wrote
  std::uint64_t bytes_out = 0;   // what a GPU writes of it and the CPU reads

  // The smallest time of a variant; NaN if none was measured.
  double best_gpu_ms() const;
};

struct SampleSet {
  std::string name;
  std::string device;  // whose GPU times they are
  FeatureSet features;
  std::vector<std::string> variants;  // of the GPU times: libraries, or "default" and "best"
  std::vector<Sample> samples;
  std::vector<std::string> remarks;  // for people: what was left out of the source, and why

  // "COUNT of ALL what", behind the path if there is one; nothing of none.
  void remark(std::size_t count, std::size_t all, const char* what, const std::string& path = "");
};

// The same samples with that variant's time alone; those without it are left out.
SampleSet only_variant(const SampleSet& set, std::size_t variant);

}  // namespace idletune::offload

// What predicts, from a sample's features, how many times faster its GPU kernel is. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/host/learn/stepwise.hpp"
#include "models/host/learners/learner.hpp"
#include "models/host/offload/sample.hpp"

namespace idletune::offload {

struct SpeedupOptions {
  // "published": time = ninst * (b0 + sum of terms), stepwise on bootstrap samples, as Ardalani et
  // al. 2015. "logarithm": the same of the logarithm of the speed-up. "forest": a random forest of
  // the same. Any other: what `make_other` answers for it.
  std::string method = "forest";
  // Whether the CPU's time is a feature, too; also per operation, where operations were counted,
  // for learners that do not divide. "published" never uses it.
  bool cpu_time = true;
  std::size_t models = 100;  // of an ensemble, trees of a forest
  std::uint64_t seed = 1;
  // Learners that are built elsewhere; null for a name it does not know. May be empty.
  std::function<std::unique_ptr<learners::Learner>(std::string_view)> make_other;
};

// Learns ln(CPU's time / GPU's time), the GPU's being that of its fastest variant.
class SpeedupLearner {
 public:
  virtual ~SpeedupLearner() = default;
  // Learns from those samples of the set alone. Each must have both times. Errors: what the
  // learners say; fewer samples than features among them.
  virtual Status fit(const SampleSet& set, Span<const std::size_t> rows) = 0;
  // Of a sample with the same features and, if it was learned with them, a CPU time.
  virtual double log_speedup(const Sample& sample) const = 0;
  // How far off it may be, in the same unit; only its ratio between samples counts. 1: it cannot
  // tell.
  virtual double spread(const Sample&) const { return 1; }
  // For people: features that were constant or said the same as others.
  virtual std::vector<std::string> remarks() const { return {}; }
  // The names of what it chooses from.
  virtual std::vector<std::string> columns() const { return {}; }
  // Of the bootstrap models' predictions that share is averaged, half of it on either side of the
  // median. Nothing happens if it has none.
  virtual void set_inclusion(double) {}
  // The bootstrap models; null if it has none.
  virtual const learners::StepwiseEnsemble* ensemble() const { return nullptr; }
};

// Errors: invalid_argument for an unknown method.
Result<std::unique_ptr<SpeedupLearner>> make_speedup_learner(const SpeedupOptions& options);

// The feature that counts what is executed ("ninst" and what others call it), by which "published"
// multiplies; features.names.size() if there is none, and it multiplies by 1.
std::size_t scale_feature(const FeatureSet& features);

// Numbers as learners can use them: the logarithm of 1 + x for features that are never negative and
// above 2 somewhere (counts), and as they are for others (shares). Which ones is decided by the
// samples that are given.
class FeatureScaling {
 public:
  FeatureScaling() = default;
  FeatureScaling(const SampleSet& set, Span<const std::size_t> rows);
  std::vector<double> scaled(const Sample& sample) const;
  std::size_t size() const { return logarithmic_.size(); }

 private:
  std::vector<bool> logarithmic_;
};

}  // namespace idletune::offload

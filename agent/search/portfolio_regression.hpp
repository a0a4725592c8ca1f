// What the portfolio's entries will take on this device, learned from those measured here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/predict/model.hpp"

namespace idletune {

// A Bayesian linear regression of log t over a portfolio's entries:
//   log t(e) = s - m(e) + sum over sources of a_d u_d(e) + sum over parameters of h_p(value) +
//   noise
// m(e) is what history expects of the entry, u_d(e) how far source d deviates from that; a_d, the
// effects h_p of single parameter values and the scale s are what this device's measurements tell.
// So a device may lie between the historical ones, beyond them, or dislike a value that all of them
// liked. Method: agent/search/README.md; constants: agent/constants.md.
//
// Memory: 4 F^2 bytes for F <= kMaxFeatures inputs (some 10 to 64 KiB), and per entry 4 bytes per
// source and one per parameter. A measurement costs F^2 multiplications, a prediction some 400.
// The model must outlive it; one thread at a time. Deterministic.
class PortfolioRegression {
 public:
  static constexpr std::size_t kMaxSources = 24;     // the heaviest deviate one by one
  static constexpr std::size_t kMaxParameters = 32;  // with more than one value
  static constexpr std::size_t kMaxFeatures = 128;
  static constexpr std::size_t kMaxLevels = 32;  // of a parameter

  // `weights`: how much each source counts beforehand (positive, any scale); source_count() of
  // them. `entries`: the first so many of the portfolio.
  PortfolioRegression(const KernelKnowledge& kernel, const std::vector<double>& weights,
                      std::size_t entries);

  // Entries that were measured here (time in ns, positive), or failed.
  void tell(std::size_t entry, double time_ns);
  void tell_failed(std::size_t entry);

  // Of log t in ns; without any measurement relative to an unknown scale.
  struct Prediction {
    double mean = 0;
    double deviation = 0;  // of a measurement of this entry
  };
  Prediction predict(std::size_t entry) const;
  // By how much of log t the entry is expected to beat the best entry so far, beyond the margin
  // below which an improvement does not count. Before the first measurement: minus the predicted
  // mean, which gives the same ranking.
  double value(std::size_t entry) const;
  // ln q that history expects of an entry, before any measurement.
  double expected(std::size_t entry) const { return -static_cast<double>(expected_[entry]); }
  bool has_measurement() const { return has_best_; }
  std::size_t bytes() const;

 private:
  struct Input {
    std::uint32_t feature;
    float value;
  };
  struct Row {
    std::size_t count = 0;
    Input inputs[1 + kMaxSources + kMaxParameters];
  };
  void choose_sources(const std::vector<double>& weights);
  void code_entries(const std::vector<double>& weights);
  void code_parameters();
  void set_priors();
  Row row(std::size_t entry) const;
  // `distance` from the best.
  void learn(std::size_t entry, double log_time, double distance);

  KernelKnowledge kernel_;
  std::size_t entries_ = 0;
  std::size_t features_ = 0;
  std::size_t parameters_ = 0;                // with more than one value
  std::vector<std::size_t> sources_;          // those that deviate one by one
  std::vector<std::uint32_t> first_feature_;  // of each parameter's levels
  std::vector<std::uint8_t> levels_;          // entries x parameters
  std::vector<std::uint8_t> level_counts_;    // per parameter
  std::vector<float> deviations_;             // entries x sources_
  std::vector<float> expected_;               // per entry: -m(e)
  std::vector<float> coefficients_;
  std::vector<float> covariance_;        // features x features
  std::vector<std::uint32_t> failures_;  // until the scale is known
  double offset_ = 0;                    // log of the first time
  double best_ = 0;                      // log t, relative to offset_
  bool has_best_ = false;
};

}  // namespace idletune

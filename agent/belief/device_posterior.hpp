// Which historical device does this one resemble, and what will a configuration take here?
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <idletune/span.hpp>

#include "models/predict/model.hpp"

namespace idletune {

// A mixture over the model's historical devices ("sources") and a permanent "none of these". Source
// d predicts log t(c) = log s - log q_d(c) + noise for an entry c of the portfolio, with the scale
// s and the noise's variance unknown (a normal-inverse-gamma belief per source); "none of these"
// knows no difference between entries. Every measurement updates all of them: a few dozen
// multiplications per source. Portfolio entries inform scale, noise and weights; uniform draws
// inform the weights through the source's distribution of q. Method and constants:
// agent/belief/README.md.
//
// The one owner of these weights: searcher and decision both read them here. Rebuilt after a
// restart by telling the same measurements in the same order. Fixed size (static_assert below), no
// allocation; the model must outlive it; one thread at a time.
class DevicePosterior {
 public:
  static constexpr std::size_t kMaxSources = 64;    // of a model; further ones are not used
  static constexpr std::size_t kMaxEntries = 1024;  // of a portfolio; likewise

  // What a component of the mixture believes.
  struct Component {
    double weight = 0;     // all components add up to 1
    double log_scale = 0;  // of s in ns; for "none of these" of the typical time of an entry
    double scale_variance = 0;
    double noise_variance = 0;  // of log t around its prediction
  };
  // What a component expects of an entry: a distribution of log t.
  struct Prediction {
    Prediction(const Component& component, double relative);  // q on the source, positive
    // The chance that it runs and takes less than exp(log_limit) ns.
    double chance_below(double log_limit) const;
    double expected;
    double deviation;
    double least;  // nothing is faster
  };
  // One upcoming proposal.
  struct Forecast {
    std::size_t entry = 0;
    double value = 0;  // what entries are ranked by
  };

  // Knows nothing: no sources, no entries.
  DevicePosterior() = default;
  // `device`: the name of the one at hand; sources of its kin weigh more beforehand
  // (source_affinity). Empty: all alike.
  explicit DevicePosterior(const KernelKnowledge& kernel, std::string_view device = {});

  // An entry of the portfolio was measured (time in ns), or failed.
  void tell_entry(std::size_t entry, double time_ns);
  void tell_entry_failed(std::size_t entry);
  // A uniform draw was measured that is no entry.
  void tell_draw(double time_ns);
  // The entry is not to be forecast: proposed already, excluded, or not in the space.
  void take(std::size_t entry) { open_.reset(entry); }
  bool is_open(std::size_t entry) const { return open_.test(entry); }

  std::size_t source_count() const { return sources_; }
  std::size_t entry_count() const { return entries_; }
  double weight(std::size_t source) const { return weights_[source]; }
  double prior_weight(std::size_t source) const { return priors_[source]; }  // they add up to 1
  double weight_of_none() const { return weights_[sources_]; }
  // Entries that ran here; 0: the scale is unknown.
  std::uint32_t measured() const { return measured_; }
  std::uint32_t failed() const { return failed_; }  // entries that did not
  // Of a source, or of "none of these" (source_count()). Scale and its variance mean nothing while
  // measured() is 0.
  Component component(std::size_t source) const;
  // q of the entry on that source; negative: not measured there. In "none of these": negative.
  double relative(std::size_t entry, std::size_t source) const;
  // How far forecasts of improvements have held: the factor to trust them by, in (0, 1]. The noise
  // around a prediction is not symmetric; this is where that is learned.
  double forecast_quality() const;
  QuantileView distribution(std::size_t source) const { return distributions_[source]; }
  // Draws that a source's distribution comes from; 0: it is of the whole space.
  double sample_size(std::size_t source) const { return static_cast<double>(samples_[source]); }
  std::string_view device(std::size_t source) const { return kernel_.source(source).device; }
  // p_b(ratio) there, of a sample the lower end of its interval.
  double cautious_fraction(std::size_t source, double ratio) const {
    return kernel_.source(source).cautious_fraction(ratio);
  }

  // What entries are ranked by: the mean of q^4 under the weights.
  double value(std::size_t entry) const;
  // The open entries of the highest value, best first; returns how many were written.
  std::size_t upcoming(Span<Forecast> room) const;

 private:
  struct Belief {
    float mean = 0;            // of log t + log q over the entries measured
    float squares = 0;         // around the mean, surprises cut
    float log_likelihood = 0;  // tempered
    std::uint32_t count = 0;
  };
  double noise_variance(const Belief& belief) const;
  void observe(Belief& belief, double value);
  void score_forecast(std::size_t entry, double log_time);
  void weigh();

  KernelKnowledge kernel_;
  std::size_t sources_ = 0;
  std::size_t entries_ = 0;
  std::uint32_t measured_ = 0;
  std::uint32_t failed_ = 0;
  double best_log_time_ = 0;  // of an entry
  double hits_ = 0;           // entries that improved on the best before them
  double expected_hits_ = 0;  // the forecast of that
  std::bitset<kMaxEntries> open_;
  std::array<Belief, kMaxSources + 1> beliefs_{};  // the last one used: "none of these"
  std::array<float, kMaxSources + 1> weights_{};
  std::array<float, kMaxSources> priors_{};
  std::array<float, kMaxSources> samples_{};
  std::array<QuantileView, kMaxSources> distributions_{};
};
static_assert(sizeof(DevicePosterior) <= 8192, "belongs to the 32 KiB of a kernel");

}  // namespace idletune

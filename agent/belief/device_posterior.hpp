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
    double weight = 0;          // all components add up to 1
    double log_scale = 0;       // of s in ns; means nothing while `count` is 0
    double noise_variance = 0;  // of log t around its prediction
    std::uint32_t count = 0;    // entries that ran here and on the source
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
  // The entry is not to be proposed: it was already, excluded, or not in the space.
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
  // Of a source, or of "none of these" (source_count()).
  Component component(std::size_t source) const;
  // q of the entry on that source; negative: not measured there. In "none of these": negative.
  double relative(std::size_t entry, std::size_t source) const;
  std::string_view device(std::size_t source) const { return kernel_.source(source).device; }
  // Whether its model knows uniform draws from the space there.
  bool has_draws(std::size_t source) const { return kernel_.source(source).measured_count > 0; }
  // p_b(ratio) there, of a sample the lower end of its interval.
  double cautious_fraction(std::size_t source, double ratio) const {
    return kernel_.source(source).cautious_fraction(ratio);
  }

  // q of the entry that the model expects anywhere.
  double expected(std::size_t entry) const { return kernel_.portfolio_score(entry); }
  // In the race for the best configuration (search_forecast): q to the 16th power, expected of an
  // entry, of a uniform draw, and the sum over the entries that were tried here.
  double race_weight(std::size_t entry) const;
  double draw_weight() const { return draw_weight_; }
  double tried_weight() const { return tried_weight_; }
  // The variance of the noise around what the sources predict, over the usual one.
  double relative_noise() const;

 private:
  struct Belief {
    float mean = 0;            // of log t + log q over the entries measured
    float squares = 0;         // around the mean, surprises cut
    float log_likelihood = 0;  // tempered
    std::uint32_t count = 0;
  };
  double noise_variance(const Belief& belief) const;
  void observe(Belief& belief, double value);
  void weigh();

  KernelKnowledge kernel_;
  std::size_t sources_ = 0;
  std::size_t entries_ = 0;
  std::uint32_t measured_ = 0;
  std::uint32_t failed_ = 0;
  double draw_weight_ = 0;
  double tried_weight_ = 0;
  std::bitset<kMaxEntries> open_;
  std::array<Belief, kMaxSources + 1> beliefs_{};  // the last one used: "none of these"
  std::array<float, kMaxSources + 1> weights_{};
  std::array<float, kMaxSources> priors_{};
  std::array<QuantileView, kMaxSources> distributions_{};
};
static_assert(sizeof(DevicePosterior) <= 8192, "belongs to the 32 KiB of a kernel");

}  // namespace idletune

#include "agent/belief/device_posterior.hpp"

#include <algorithm>
#include <cmath>

#include "models/devices/device_names.hpp"
#include "models/devices/source_affinity.hpp"

namespace idletune {
namespace {

// Noise of a source's predictions (standard deviation of the logarithm) before anything was
// measured: between GPUs of different generations 0.05 to 1, typically this.
constexpr double kUsualSpread = 0.25;
constexpr double kSpreadOfNone = 0.5;
// Measurements that the noise's prior is worth.
constexpr double kPriorCount = 2.0;
// Likelihoods are raised to this power: portfolio entries are no independent draws.
constexpr double kTempering = 0.5;
// A surprise counts for at most this many standard deviations (a Huber-like cut).
constexpr double kMaxSurprise = 3.0;
// Log-likelihood of a success where the source failed, or the other way round.
constexpr double kStatusSurprise = -1.5;
// "None of these" never believes in less than this.
constexpr double kLeastNone = 0.15;
// Width (in the logarithm) over which a source's density of q is looked at, and its floor.
constexpr double kDensityWidth = 0.5;
constexpr double kLeastDensity = 0.05;
// Draws count for less still: 33 quantiles know a density only roughly.
constexpr double kDrawTempering = 0.25;

// In a race among many the good ones count: q to the 16th power.
double race_power(double q) {
  for (int i = 0; i < 4; ++i) q *= q;
  return q;
}

// The mean of that over a distribution with linear pieces, by Simpson's rule.
double mean_race_power(Span<const float> values, const std::array<double, kQuantileCount>& levels) {
  double mean = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double low = static_cast<double>(values[i - 1]);
    const double high = static_cast<double>(values[i]);
    mean += (levels[i] - levels[i - 1]) / 6 *
            (race_power(low) + 4 * race_power((low + high) / 2) + race_power(high));
  }
  return mean;
}

}  // namespace

DevicePosterior::DevicePosterior(const KernelKnowledge& kernel, std::string_view device)
    : kernel_(kernel) {
  sources_ = std::min(kernel.source_count(), kMaxSources);
  entries_ = std::min(kernel.portfolio_size(), kMaxEntries);
  for (std::size_t i = 0; i < entries_; ++i) open_.set(i);
  const std::array<double, kQuantileCount> levels = quantile_levels();
  double total = 0;
  for (std::size_t d = 0; d < sources_; ++d) {
    const HistoricalSource source = kernel.source(d);
    distributions_[d] = source.relative_performance;
    draw_weight_ +=
        mean_race_power(distributions_[d].values(), levels) / static_cast<double>(sources_);
    double same = 0;
    for (std::size_t e = 0; e < sources_; ++e) {
      same += same_device_model(source.device, kernel.source(e).device) ? 1 : 0;
    }
    const double affinity = device.empty() ? 1 : source_affinity(device, source.device);
    priors_[d] = static_cast<float>(affinity / std::max(same, 1.0));
    total += affinity / std::max(same, 1.0);
  }
  for (std::size_t d = 0; d < sources_; ++d) priors_[d] = static_cast<float>(priors_[d] / total);
  weigh();
}

double DevicePosterior::noise_variance(const Belief& belief) const {
  const double freedom = belief.count > 0 ? belief.count - 1.0 : 0.0;
  const double spread = &belief == &beliefs_[sources_] ? kSpreadOfNone : kUsualSpread;
  const double prior = spread * spread;
  return (kPriorCount * prior + static_cast<double>(belief.squares)) / (kPriorCount + freedom);
}

// Welford's update, with the surprise cut; the predictive density is Student's t.
void DevicePosterior::observe(Belief& belief, double value) {
  if (belief.count == 0) {
    belief.mean = static_cast<float>(value);
    belief.count = 1;
    return;
  }
  const double n = belief.count;
  const double spread = std::sqrt(noise_variance(belief) * (1 + 1 / n));
  const double surprise = (value - static_cast<double>(belief.mean)) / spread;
  const double z = std::clamp(surprise, -kMaxSurprise, kMaxSurprise);
  const double freedom = kPriorCount + n - 1;
  belief.log_likelihood -= static_cast<float>(
      kTempering * (std::log(spread) + (freedom + 1) / 2 * std::log1p(z * z / freedom)));
  const double step = z * spread;
  belief.mean += static_cast<float>(step / (n + 1));
  belief.squares += static_cast<float>(step * step * n / (n + 1));
  ++belief.count;
}

void DevicePosterior::tell_entry(std::size_t entry, double time_ns) {
  if (entry >= entries_ || !(time_ns > 0)) return;
  take(entry);
  const double log_time = std::log(time_ns);
  tried_weight_ += race_weight(entry);
  ++measured_;
  for (std::size_t d = 0; d < sources_; ++d) {
    const double q = kernel_.portfolio_relative(entry, d);
    if (q == 0) beliefs_[d].log_likelihood += static_cast<float>(kTempering * kStatusSurprise);
    if (q > 0) observe(beliefs_[d], log_time + std::log(q));
  }
  observe(beliefs_[sources_], log_time);
  weigh();
}

void DevicePosterior::tell_entry_failed(std::size_t entry) {
  if (entry >= entries_) return;
  take(entry);
  tried_weight_ += race_weight(entry);
  ++failed_;
  for (std::size_t d = 0; d < sources_; ++d) {
    if (kernel_.portfolio_relative(entry, d) > 0) {
      beliefs_[d].log_likelihood += static_cast<float>(kTempering * kStatusSurprise);
    }
  }
  weigh();
}

void DevicePosterior::tell_draw(double time_ns) {
  if (!(time_ns > 0) || measured_ == 0) return;
  const double log_time = std::log(time_ns);
  double sum = 0;
  double count = 0;
  for (std::size_t d = 0; d < sources_; ++d) {
    Belief& belief = beliefs_[d];
    if (belief.count == 0) continue;
    const double log_q = static_cast<double>(belief.mean) - log_time;
    const double share = distributions_[d].share_at_least(std::exp(log_q - kDensityWidth / 2)) -
                         distributions_[d].share_at_least(std::exp(log_q + kDensityWidth / 2));
    const double density = std::max(kLeastDensity, share / kDensityWidth);
    belief.log_likelihood += static_cast<float>(kDrawTempering * std::log(density));
    sum += density;
    count += 1;
  }
  if (count > 0) {
    beliefs_[sources_].log_likelihood += static_cast<float>(kDrawTempering * std::log(sum / count));
  }
  weigh();
}

void DevicePosterior::weigh() {
  double highest = static_cast<double>(beliefs_[sources_].log_likelihood);
  for (std::size_t d = 0; d < sources_; ++d) {
    highest = std::max(highest, static_cast<double>(beliefs_[d].log_likelihood));
  }
  const auto likelihood = [&](std::size_t d) {
    return std::exp(static_cast<double>(beliefs_[d].log_likelihood) - highest);
  };
  double total = 0;
  for (std::size_t d = 0; d < sources_; ++d) {
    const double weight = likelihood(d) * static_cast<double>(priors_[d]);
    weights_[d] = static_cast<float>(weight);
    total += weight;
  }
  const double none = kLeastNone * likelihood(sources_) / (1 - kLeastNone);
  const double share = total > 0 ? std::max(kLeastNone, none / (none + total)) : 1.0;
  const double left = total > 0 ? (1 - share) / total : 0;
  for (std::size_t d = 0; d < sources_; ++d) {
    weights_[d] = static_cast<float>(static_cast<double>(weights_[d]) * left);
  }
  weights_[sources_] = static_cast<float>(share);
}

DevicePosterior::Component DevicePosterior::component(std::size_t source) const {
  const Belief& belief = beliefs_[source];
  Component component;
  component.weight = static_cast<double>(weights_[source]);
  component.log_scale = static_cast<double>(belief.mean);
  component.noise_variance = noise_variance(belief);
  component.count = belief.count;
  return component;
}

double DevicePosterior::relative_noise() const {
  double sum = 0;
  for (std::size_t d = 0; d < sources_; ++d) {
    sum += static_cast<double>(weights_[d]) * noise_variance(beliefs_[d]);
  }
  return sum / (1 - weight_of_none()) / (kUsualSpread * kUsualSpread);
}

double DevicePosterior::relative(std::size_t entry, std::size_t source) const {
  return source < sources_ ? kernel_.portfolio_relative(entry, source) : -1;
}

double DevicePosterior::race_weight(std::size_t entry) const { return race_power(expected(entry)); }

}  // namespace idletune

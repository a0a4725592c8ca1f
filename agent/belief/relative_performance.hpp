// The distribution of relative performance q = t_best / t over a tuning space.
#pragma once

#include <array>
#include <cstddef>

#include <idletune/span.hpp>

#include "agent/belief/uniform_draws.hpp"

namespace idletune {

// A distribution function with linear pieces between knots (level, q), both ascending, q in [0, 1];
// configurations that fail have q = 0. A plain value; no allocation.
class RelativePerformance {
 public:
  static constexpr std::size_t kMaxKnots = 72;

  // From quantiles, see DecisionInput. Values out of order or range are clamped, NaN dropped; more
  // than fit are thinned evenly. Fewer than 2 usable: the prior.
  static RelativePerformance from_quantiles(Span<const float> quantiles, Span<const float> levels);
  // What a space looks like that nothing is known about: level by level the median over the 17
  // exhaustively measured spaces of the Kernel Tuner benchmark collection (convolution,
  // dedispersion, GEMM, point-in-polygon on 3 to 4 GPUs each).
  static RelativePerformance prior();

  // Makes the spread of log q agree with the faster half of the draws, as far as they are enough to
  // tell (weight n / (n + 10)).
  void stretch_to(const UniformDraws& draws);
  // Makes the share with q >= ratio equal `share`, leaving the shape above and below alone.
  void set_share_at_least(double ratio, double share);

  // Divides the pieces evenly as far as there is room, so that bins are narrow. Last.
  void refine();

  // Share of the space with q >= ratio.
  double share_at_least(double ratio) const;
  // The quantile at `level` in [0, 1] among configurations that work; at least 0.001.
  double correct_quantile(double level) const;
  // Standard deviation of log q among configurations that work.
  double log_deviation() const;

  std::size_t size() const { return size_; }
  // The knots, both ascending.
  Span<const double> levels() const { return {levels_.data(), size_}; }
  Span<const double> values() const { return {q_.data(), size_}; }
  // Pieces i = 0 .. size() - 2.
  double bin_mass(std::size_t i) const { return levels_[i + 1] - levels_[i]; }
  double bin_value(std::size_t i) const { return (q_[i] + q_[i + 1]) / 2; }

 private:
  void add(double level, double q);
  void close();
  double quantile(double level) const;
  double failed_share() const;

  std::array<double, kMaxKnots> levels_{};
  std::array<double, kMaxKnots> q_{};
  std::size_t size_ = 0;
};

}  // namespace idletune

// What uniform draws from a tuning space tell of its best configuration and of how many are nearly
// as good.
#pragma once

#include <array>

#include "agent/belief/uniform_draws.hpp"

namespace idletune {

// The 10 %, 50 % and 90 % quantiles of something. As nodes of an integral they weigh 1/4, 1/2, 1/4.
using Tenths = std::array<double, 3>;
constexpr Tenths kTenthWeights{0.25, 0.5, 0.25};

// Power laws in the number of correct draws and in how far their median lies above their least, as
// quantile regressions over recorded spaces found them (agent/belief/README.md). A plain value.
struct DrawLaws {
  double draws = 3;      // correct ones; fewer than kFewest tell nothing
  double spread = 0.62;  // log of median over least, plus kSpreadFloor

  static constexpr double kFewest = 3;
  DrawLaws() = default;
  explicit DrawLaws(const UniformDraws& seen);
  // log of the fastest draw over t_best.
  Tenths distance() const;
  // p_b(ratio): the share of the space with t_best / t of at least `ratio`.
  Tenths fraction(double ratio) const;
};

}  // namespace idletune

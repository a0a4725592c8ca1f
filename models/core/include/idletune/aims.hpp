// What tuning aims at unless it is told otherwise.
#pragma once

namespace idletune {

// r: configurations with at least this relative performance count as well-performing.
inline constexpr double kWellPerforming = 0.9;
// p_s: the chance to have found one.
inline constexpr double kWantedProbability = 0.9;
// A configuration is adopted only if it is faster by this share.
inline constexpr double kAdoptionMargin = 0.03;

}  // namespace idletune

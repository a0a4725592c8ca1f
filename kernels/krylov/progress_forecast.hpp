// How many iterations are left, from the residuals so far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/krylov/product_choice.hpp"

namespace idletune::krylov {

inline constexpr double kForEver = 1e15;  // what comes as often as that, or infinitely often

// Solves of the same structure that are expected behind this one.
struct SolvesToCome {
  double count = 0;
  bool announced = true;
};

// As many as the application says, or where it does not (less than 0) as many as there were.
inline SolvesToCome solves_reckoned_with(double said, double done) {
  return said >= 0 ? SolvesToCome{std::min(said, kForEver), true} : SolvesToCome{done, false};
}

class ProgressForecast {
 public:
  // `target`: of the residual's norm. `most`: iterations at most. `usual`: what an earlier solve
  // took; 0: there was none.
  ProgressForecast(double target, double most, double usual, SolvesToCome solves_to_come);
  void add(double residual);
  Outlook outlook() const;

 private:
  Outlook of_this_solve() const;

  double log_target_;
  double most_;
  double usual_;
  SolvesToCome solves_to_come_;
  std::vector<float> logs_;  // of the residuals
};

}  // namespace idletune::krylov

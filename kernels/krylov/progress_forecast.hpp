// How many iterations are left, from the residuals so far.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/krylov/product.hpp"

namespace idletune::krylov {

class ProgressForecast {
 public:
  // `target`: of the residual's norm. `most`: iterations at most. `usual`: what an earlier solve
  // took; 0: there was none.
  ProgressForecast(double target, double most, double usual, double solves_to_come);
  void add(double residual);
  Outlook outlook() const;

 private:
  Outlook of_this_solve() const;

  double log_target_;
  double most_;
  double usual_;
  double solves_to_come_;
  std::vector<float> logs_;  // of the residuals
};

}  // namespace idletune::krylov

// How many iterations are left, from the residuals so far.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/krylov/product_choice.hpp"

namespace idletune::krylov {

// How many solves of the same structure are expected behind this one: as many as the application
// says, or where it does not (less than 0) as many as there were.
inline double solves_reckoned_with(double said, double done) { return said >= 0 ? said : done; }

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

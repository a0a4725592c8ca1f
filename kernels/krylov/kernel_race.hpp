// Which kernel of one format is the fastest: each in turn runs a few of the products that are due
// anyway.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/krylov/device_kernels.hpp"

namespace idletune::krylov {

class KernelRace {
 public:
  // The first one runs before anything is known.
  void begin(std::vector<KernelVariant> variants);
  bool begun() const { return !entrants_.empty(); }
  // Whether the next product is to be measured.
  bool running() const { return begun() && !paused_ && at_ < entrants_.size(); }
  // Whether the next product is the first of its kernel: to be checked, and not to be counted,
  // since drivers generate code then.
  bool first_run() const { return runs_ == 0; }
  bool over() const { return at_ >= entrants_.size(); }
  const KernelVariant& current() const { return entrants_[running() ? at_ : best_]; }
  const KernelVariant& next() const { return entrants_[at_]; }
  const KernelVariant& best() const { return entrants_[best_]; }
  double best_us() const { return best_us_; }  // 0: not measured
  // After a product of the current kernel.
  void took(double microseconds);
  void failed();
  // These in place of those that have not run yet.
  void follow(const std::vector<KernelVariant>& next);
  void go_on() { paused_ = false; }

 private:
  void end_of_entrant();

  std::vector<KernelVariant> entrants_;
  std::size_t at_ = 0;
  std::size_t best_ = 0;
  std::uint32_t runs_ = 0;  // of the current one
  double current_us_ = 0;   // its fastest
  double best_us_ = 0;
  bool paused_ = false;
};

}  // namespace idletune::krylov

// Which kernel of one format is the fastest: each in turn runs a few of the products that are due
// anyway, and then the best of them in turns, since times of one moment differ by more than kernels
// do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/krylov/device_kernels.hpp"

namespace idletune::krylov {

// Of two in the middle the smaller one; 0: there are none. It sorts them.
double median_of(float* values, std::size_t count);

class KernelRace {
 public:
  // The first one runs before anything is known.
  void begin(const std::vector<KernelVariant>& variants);
  bool begun() const { return !entrants_.empty(); }
  // Whether the next product is to be measured.
  bool running() const { return begun() && !paused_ && !over(); }
  // Whether the next product is the first of its kernel: to be checked, and not to be counted,
  // since drivers generate code then.
  bool first_run() const { return at_ < entrants_.size() && runs_ == 0; }
  bool over() const { return at_ >= entrants_.size() && turns_ == 0; }
  const KernelVariant& current() const;
  const KernelVariant& best() const { return entrants_[best_].variant; }
  double best_us() const { return best_us_; }  // its median; 0: not measured
  // After a product of the current kernel.
  void took(double microseconds);
  void failed();
  // These in place of those that have not run yet.
  void follow(const std::vector<KernelVariant>& next);
  void go_on() { paused_ = false; }

 private:
  static constexpr std::uint32_t kRuns = 3;       // the first is not counted
  static constexpr std::uint32_t kFinalRuns = 4;  // of each of the best
  static constexpr std::size_t kFinalists = 3;

  struct Entrant {
    KernelVariant variant;
    std::uint32_t counted = 0;
    float us[kRuns - 1 + kFinalRuns] = {};
    double median() const;  // 0: not counted
    double slowest() const;
  };
  void choose_best();
  void stop_sharing();
  void end_of_entrant();
  void begin_finals();

  std::vector<Entrant> entrants_;
  std::size_t at_ = 0;
  std::size_t best_ = 0;
  std::uint32_t runs_ = 0;  // of the current one
  double best_us_ = 0;
  bool paused_ = false;
  std::uint32_t turns_ = 0;  // of the finals, still to run
  std::size_t finalists_[kFinalists] = {};
  std::uint32_t finalist_count_ = 0;
};

}  // namespace idletune::krylov

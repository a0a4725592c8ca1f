// Which kernel of one format is the fastest: each in turn runs a few of the products that are due
// anyway, and then the best of them in turns, since times of one moment differ by more than kernels
// do. Of short products several in a row are measured, since waiting for one differs by more, too.
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
  // The first one runs before anything is known. `in_a_row`: as another race has found; 0: this one
  // finds out, once it goes on.
  void begin(const std::vector<KernelVariant>& variants, std::uint32_t in_a_row = 0);
  bool begun() const { return !entrants_.empty(); }
  // Whether the next product is to be measured.
  bool running() const { return begun() && !paused_ && !over(); }
  // Whether the next product is the first of its kernel: to be checked, and not to be counted,
  // since drivers generate code then.
  bool first_run() const { return at_ < entrants_.size() && runs_ == 0; }
  // How many times in a row the next product is to be run; took() is told their mean.
  std::uint32_t in_a_row() const { return finals_ || runs_ > 1 ? row_ : 1; }
  std::uint32_t usual_row() const { return row_; }
  bool over() const { return at_ >= entrants_.size() && !finals_; }
  const KernelVariant& current() const;
  const KernelVariant& best() const { return entrants_[best_].variant; }
  double best_us() const { return best_us_; }  // its median; 0: not measured
  // How often that was measured: once in passing tells little, since it may have been disturbed.
  std::uint32_t times_measured() const {
    const std::uint32_t once = best_us_ > 0 ? 1 : 0;
    return best_ < entrants_.size() && entrants_[best_].counted > 0 ? entrants_[best_].counted + 1
                                                                    : once;
  }
  double first_us() const;  // the same of the first one
  // After a product of the current kernel.
  void took(double microseconds);
  void failed();
  // These in place of those that have not run yet.
  void follow(const std::vector<KernelVariant>& next);
  void go_on() { paused_ = false; }
  // Whether the best run next, each once; and what they, or the next kernel, compute that is not
  // due anyway or not counted, in microseconds, if all are as fast as the best one.
  bool in_finals() const { return finals_; }
  double extra_us() const;

 private:
  static constexpr std::uint32_t kMostProducts = 50;  // that a race takes
  static constexpr std::uint32_t kMostCounted = 16;
  static constexpr std::size_t kFinalists = 5;

  struct Entrant {
    KernelVariant variant;
    std::uint32_t counted = 0;
    float us[kMostCounted] = {};  // the last ones
    double median() const;        // 0: not counted
    void count(double microseconds);
  };
  void ran_alone(double microseconds);
  void ran_in_a_row(double microseconds);
  void ran_in_finals(double microseconds);
  void stop_sharing();
  void end_of_entrant();
  void begin_finals();
  void sort_finalists();

  std::vector<Entrant> entrants_;
  std::size_t at_ = 0;
  std::size_t best_ = 0;
  std::uint32_t runs_ = 0;  // of the current one
  std::uint32_t row_ = 1;   // products in a row
  double best_us_ = 0;
  double first_alone_us_ = 0;  // one product of the first kernel; 0: not measured
  double least_alone_us_ = 0;  // of all
  bool paused_ = false;
  bool finals_ = false;
  bool finds_row_ = true;
  std::uint32_t products_ = 0;
  std::size_t finalists_[kFinalists] = {};
  std::uint32_t finalist_count_ = 0;
  std::uint32_t turn_ = 0;    // the place of the finalist that runs next
  std::uint32_t rounds_ = 0;  // of as many finalists as there are
};

}  // namespace idletune::krylov

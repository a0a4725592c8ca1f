// Which kernel of one format is the fastest: each in turn runs a few of the products that are due
// anyway, and then the best of them in turns. Of short products several in a row are measured,
// since waiting for one differs by more than kernels do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/race.hpp>

#include "kernels/krylov/device_kernels.hpp"
#include "kernels/krylov/stopwatch.hpp"

namespace idletune::krylov {

class KernelChoice {
 public:
  // The first one runs before anything is known. `in_a_row`: as another race has found; 0: this one
  // finds out, once it goes on.
  void begin(const std::vector<KernelVariant>& variants, std::uint32_t in_a_row = 0);
  double row_us() const { return best_us() * row_; }
  // The best kernel of another one alone, which has run before: some times of this moment.
  void again(const KernelChoice& other);
  bool begun() const { return !variants_.empty(); }
  bool finished() const { return begun() && over(); }
  // Whether the next product is to be measured.
  bool running() const { return begun() && !paused_ && !over(); }
  // Whether the next product is the first of its kernel: to be checked, and not to be counted,
  // since drivers generate code then.
  bool first_run() const { return runs_of_next() == 0; }
  // How many times in a row the next product is to be run; took() is told their mean.
  std::uint32_t in_a_row() const;
  std::uint32_t usual_row() const { return row_; }
  bool over() const { return over_; }
  const KernelVariant& current() const { return running() ? variants_[next()] : best(); }
  const KernelVariant& best() const { return variants_[best_]; }
  double best_us() const { return us_of(best_); }  // its median; 0: not measured
  // How often that was measured: once in passing tells little, since it may have been disturbed.
  std::uint32_t times_measured() const { return race_.counted(best_) + (best_us() > 0 ? 1 : 0); }
  double first_us() const { return us_of(0); }  // the same of the first one
  // After a product of the current kernel.
  void took(double microseconds);
  // It is wrong or does not run: the others go on without it, if there are any.
  void failed();
  // These in place of those that have not run yet.
  void follow(const std::vector<KernelVariant>& next);
  void go_on() { paused_ = false; }
  // Whether the best run next, each once; and what they, or the next kernel, compute that is not
  // due anyway or not counted, in microseconds, if all are as fast as the best one.
  bool in_finals() const { return race_.field().rounds > 0 && !over(); }
  double extra_us() const;

 private:
  // Who looks better than the best one has that run once more at once: the clock may have changed.
  std::size_t next() const { return challenger_us_ > 0 ? best_ : race_.next(); }
  std::uint32_t runs_of_next() const { return over() ? 1 : race_.runs(next()); }
  double us_of(std::size_t kernel) const {
    return race_.counted(kernel) > 0 ? Microseconds(race_.time(kernel)).count() : first_alone_us_;
  }
  bool fills_row(double microseconds);
  void ran_alone(std::size_t kernel, double microseconds);
  void stop_sharing();
  void note(bool takes_over = false);

  Race race_;
  std::vector<KernelVariant> variants_;  // the race's entrants
  std::uint32_t row_ = 1;                // products in a row
  std::uint32_t least_counted_ = 0;      // of the best one
  double first_alone_us_ = 0;            // one product of the first kernel; 0: not measured
  double least_alone_us_ = 0;            // of all
  double challenger_us_ = 0;             // of who looks better than the best one; 0: nobody
  std::size_t best_ = 0;                 // as the race says, as is whether it is over: products ask
  bool over_ = true;
  bool paused_ = false;
  bool finds_row_ = true;
};

}  // namespace idletune::krylov

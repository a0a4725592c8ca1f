// Which way CG iterates: steps apart or fused, with CSR or with the format that was converted to.
// Ways race in turns of some iterations, since a slow moment may be as long as a turn: the best
// turn counts. And what counts is a whole iteration: the format with the faster product need not be
// the one whose fused steps are faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <idletune/krylov.hpp>
#include <idletune/race.hpp>

#include "kernels/krylov/product_choice.hpp"
#include "kernels/krylov/stopwatch.hpp"

namespace idletune::krylov {

class StepChoice {
 public:
  explicit StepChoice(const SolverOptions& options);
  bool running() const { return !over_; }
  // Whether look_ahead() would change nothing.
  bool settled(bool other_format) const { return over_ && other_format == other_; }
  void begin_solve() { tried_ = false; }
  // How the next step runs.
  bool fused() const { return way_ % 2 != 0; }
  bool converted() const { return way_ < 2; }
  // What the product runs with; steps that were timed with another one are timed anew.
  void runs_with(const KernelVariant& kernel);
  // After a step: how it ran.
  void took(double microseconds);
  // Trying fused steps has cost that beside.
  void cost(double microseconds) {
    behind_us_ += microseconds;
    tried_ = true;
  }
  // Fused steps cannot be had in this format.
  void refuse();
  // The solution is wrong: no fused steps any more, where this solve had some, which is returned.
  bool distrust();
  // Between two steps: iterations left, the price of trying fused ones, and whether there is a
  // format that was converted to, which the product has just taken where there was none before.
  void look_ahead(const Outlook& outlook, double price_us, bool other_format);
  double best_us(bool converted) const;  // 0: not measured
  // What all this has cost so far, less what it has saved.
  double behind_us() const { return behind_us_; }

 private:
  static constexpr std::size_t kWays = 4;
  static std::size_t way(bool converted, bool fused) {
    return (converted ? 0 : 2) + (fused ? 1 : 0);
  }
  void take(std::size_t way);
  double us_of(std::size_t way) const { return Microseconds(race_.time(way)).count(); }
  double allowed_us() const;
  bool fusing_pays(double price_us) const;

  Race race_;
  RecentTimes turn_;        // the last steps of this turn: the first generates code
  std::uint32_t runs_ = 0;  // all of them
  std::size_t way_;
  bool allowed_[kWays];
  bool always_;
  bool never_;
  bool over_;
  bool other_ = false;
  bool tried_ = false;                      // fused steps
  std::optional<KernelVariant> kernel_[2];  // in CSR, and in the other format
  Outlook outlook_;
  std::uint32_t steps_ = 0;
  double behind_us_ = 0;
};

}  // namespace idletune::krylov

// Whether CG runs faster with its steps fused into two kernels: both ways run some iterations.
#pragma once

#include <cstdint>

#include <idletune/krylov.hpp>

namespace idletune::krylov {

class StepRace {
 public:
  explicit StepRace(const SolverOptions& options)
      : fused_(options.steps == Steps::fused),
        always_(options.choosing == Choosing::always),
        over_(options.steps != Steps::faster || options.choosing == Choosing::none) {}
  bool running() const { return !over_; }
  // How the next step runs.
  bool fused() const { return fused_; }
  // After a step: how it ran.
  void took(double microseconds);
  // Fused steps cannot be had.
  void refuse();
  // What to reckon with before another step apart: iterations left, and the price of trying fused
  // ones.
  void look_ahead(double iterations_left, double price_us);

 private:
  double fastest() const;  // of the last four

  bool fused_;
  bool always_;
  bool over_;
  std::uint32_t runs_ = 0;  // of the way that runs
  double last_[4] = {};     // microseconds; the kernels of products may have changed before
  double apart_us_ = 0;
};

}  // namespace idletune::krylov

// Which way CG iterates: steps apart or fused, with CSR or with the format that was converted to.
// Each way runs some iterations, in turns, since a slow moment may be as long as a turn: the best
// turn counts. And what counts is a whole iteration: the format with the faster product need not be
// the one whose fused steps are faster.
#pragma once

#include <cstdint>

#include <idletune/krylov.hpp>

namespace idletune::krylov {

class StepRace {
 public:
  explicit StepRace(const SolverOptions& options);
  bool running() const { return !over_; }
  // Whether look_ahead() would change nothing.
  bool settled(bool other_format) const { return over_ && other_format == other_; }
  // How the next step runs.
  bool fused() const { return fused_; }
  bool converted() const { return converted_; }
  // After a step: how it ran.
  void took(double microseconds);
  // Fused steps cannot be had in this format.
  void refuse();
  // Between two steps: iterations left, the price of trying fused ones, and whether there is a
  // format that was converted to, which the product has just taken where there was none before.
  void look_ahead(double iterations_left, double price_us, bool other_format);
  double best_us(bool converted) const;  // 0: not measured

 private:
  struct Way {
    float us[16] = {};
    std::uint32_t runs = 0;   // of this turn; the first is not counted
    std::uint32_t turns = 0;  // that are over
    double best_us = 0;       // the least of the turns' medians
    bool allowed = false;
    void took(double microseconds);
    bool in_turn() const { return allowed && (runs > 0 || turns == 0); }
    bool measured() const;
    double median() const;  // 0: not measured, or not allowed
  };
  Way& way(bool converted, bool fused) { return ways_[converted ? 1 : 0][fused ? 1 : 0]; }
  bool there(bool converted) const { return other_ || !converted; }
  double best_us() const;
  bool try_next(double iterations_left, double price_us);

  bool fused_;
  bool always_;
  bool never_;
  bool over_;
  bool converted_ = false;
  bool other_ = false;
  Way ways_[2][2];
};

}  // namespace idletune::krylov

// CG with two kernels and one copy of numbers for each iteration (Rupp et al. 2016): the product
// with p . A p and A p . M A p, and all the rest. The factor of p's next direction follows from
// those two before r is known; the next alpha is of the residual itself again.
#include <cmath>

#include "kernels/krylov/iterations.hpp"
#include "kernels/krylov/stopwatch.hpp"

namespace idletune::krylov {
namespace {

// How far, as a share of their sum with 1, two factors of the next direction may lie apart that
// differ by rounding alone.
constexpr double kRounding = 0.5;

}  // namespace

// Where fused products cannot begin yet, steps go on apart.
bool Iterations::fuses() {
  if (!product_.settled()) return false;
  steps_.runs_with(product_.choice().race().best());
  if (!steps_.fused()) return false;
  const FirstRuns::Answer answer = product_.may_fuse(diagonal_ != nullptr);
  if (answer == FirstRuns::Answer::never) steps_.refuse();
  return answer == FirstRuns::Answer::begin;
}

// q = A p and its two sums. False: not to be had.
bool Iterations::fused_product(CgState& cg) {
  if (!status().ok()) return false;
  FusedProduct fused;
  fused.diagonal = diagonal_;
  fused.parts = cg.pairs.get();
  fused.first_part = static_cast<std::int32_t>(vectors_.step_parts());
  const Result<bool> right = product_.multiply_fused(fused, *cg.p, *cg.q);
  if (!right.ok()) vectors_.fail(right.status());
  return right.ok() && *right;
}

bool Iterations::steps_fused(CgState& cg) {
  const std::size_t step_pairs = vectors_.step_parts();
  const std::size_t pairs = product_.fused_pairs();
  if (cg.pairs_size < step_pairs + pairs) {
    cg.pairs_size = step_pairs + pairs;
    cg.pairs = vectors_.allocate_pairs(cg.pairs_size);
    if (!cg.pairs) cg.pairs_size = 0;
  }
  const Stopwatch since_asked(vectors_.device());
  const bool begun = cg.pairs && vectors_.has_cg_step(diagonal_) && fused_product(cg);
  steps_.cost(1e6 * since_asked.seconds());
  if (!begun) {
    steps_.refuse();
    return !status().ok();
  }
  double sums[4];  // r . r, r . M r; p . q, q . M q
  vectors_.add_pairs(*cg.pairs, step_pairs, pairs, sums);
  do {
    if (!status().ok()) return true;
    const Stopwatch watch(vectors_.device());
    const double alpha = cg.rz / sums[2];
    const double foreseen = alpha / sums[2] * sums[3] - 1;
    bool fits = foreseen > -kRounding && vectors_.holds(foreseen);
    if (sums[2] > 0 && cg.rz > 0 && !fits) return steps_.refuse(), false;  // q . M q has no value
    ++report_.iterations;
    if (!is_positive(sums[2], cg.rz)) return true;
    if (!vectors_.holds(alpha)) return done(HUGE_VAL);
    const double beta = std::fmax(0, foreseen);
    vectors_.cg_step(alpha, beta, diagonal_, *cg.q, cg.x, *cg.r, *cg.p, *cg.pairs);
    const bool goes_on = fused_product(cg);
    vectors_.add_pairs(*cg.pairs, step_pairs, goes_on ? pairs : 0, sums);
    fits = std::fabs(sums[1] / cg.rz - beta) <= kRounding * (1 + beta);
    cg.rr = sums[0];
    cg.rz = sums[1];
    if (!product_.converting()) steps_.took(1e6 * watch.seconds());
    if (done(std::sqrt(cg.rr))) return true;
    if (!goes_on || !fits) return steps_.refuse(), false;
    choose_steps();
  } while (fuses() && product_.fused_pairs() == pairs);
  return false;
}

}  // namespace idletune::krylov

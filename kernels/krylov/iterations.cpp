#include "kernels/krylov/iterations.hpp"

#include <cmath>

#include "kernels/krylov/stopwatch.hpp"

namespace idletune::krylov {

Iterations::Iterations(DeviceVectors& vectors, Product& product, const Buffer* diagonal,
                       const SolveOptions& options, double norm_of_b,
                       const ProgressForecast& forecast, StepChoice& steps, SolveReport& report)
    : vectors_(vectors),
      product_(product),
      diagonal_(diagonal),
      options_(options),
      norm_of_b_(norm_of_b),
      forecast_(forecast),
      steps_(steps),
      report_(report) {}

void Iterations::multiply(const Buffer& x, Buffer& y) {
  if (vectors_.status().ok()) vectors_.fail(product_.multiply(x, y));
}

const Buffer& Iterations::preconditioned(const Buffer& r, const std::unique_ptr<Buffer>& own) {
  if (diagonal_ == nullptr) return r;
  vectors_.pointwise(*diagonal_, r, *own);
  return *own;
}

void Iterations::residual(const Buffer& b, const Buffer& x, Buffer& r) {
  multiply(x, r);
  vectors_.axpby(1, b, -1, r);
}

bool Iterations::end(Ended how, const char* why) {
  report_.ended = how;
  if (how != Ended::converged) {
    report_.reason = joined("%, iteration %", why, report_.iterations);
  }
  return true;
}

bool Iterations::done(double norm) {
  if (!vectors_.status().ok()) return true;
  if (!std::isfinite(norm)) return end(Ended::overflow, "the residual is no finite number");
  report_.residual = norm / norm_of_b_;
  if (options_.progress != nullptr) {
    options_.progress(options_.user, report_.iterations, report_.residual);
  }
  if (report_.residual <= options_.tolerance) return end(Ended::converged, "");
  if (report_.iterations >= options_.max_iterations) {
    return end(Ended::limit_reached, "the limit of iterations was reached");
  }
  forecast_.add(norm);
  const Outlook left = forecast_.outlook();  // iterations
  const double products = options_.method == Method::bicgstab ? 2 : 1;
  vectors_.fail(product_.look_ahead(
      {products * left.low, products * left.expected, products * left.announced}));
  return !vectors_.status().ok();
}

// Whether CG can go on with p . A p and r . M r.
bool Iterations::is_positive(double pq, double rz) {
  if (!std::isfinite(pq)) {
    end(Ended::overflow, "p . A p is no finite number");
    return false;
  }
  if (pq > 0 && rz > 0) return true;
  end(Ended::breakdown, "p . A p or r . M r is not above 0: the matrix is not positive definite");
  return false;
}

bool Iterations::step_apart(CgState& cg) {
  const bool settled = product_.settled();
  const Stopwatch watch(vectors_.device());
  multiply(*cg.p, *cg.q);
  const double pq = vectors_.dot(*cg.p, *cg.q);
  if (!status().ok()) return true;
  ++report_.iterations;
  if (!is_positive(pq, cg.rz)) return true;
  const double alpha = cg.rz / pq;
  vectors_.axpby(-alpha, *cg.q, 1, *cg.r);
  cg.rr = vectors_.dot(*cg.r, *cg.r);
  if (!std::isfinite(cg.rr)) return done(cg.rr);  // x stays as it is
  vectors_.axpby(alpha, *cg.p, 1, cg.x);
  (void)preconditioned(*cg.r, cg.own_z);
  const double next = cg.own_z ? vectors_.dot(*cg.r, *cg.z) : cg.rr;
  vectors_.axpby(1, *cg.z, next / cg.rz, *cg.p);
  cg.rz = next;
  if (settled && !steps_.fused() && !product_.converting()) steps_.took(1e6 * watch.seconds());
  if (done(std::sqrt(cg.rr))) return true;
  choose_steps();
  return false;
}

// Which way CG's next step goes.
void Iterations::choose_steps() {
  const bool converted = product_.choice().is_converted();
  if (steps_.settled(converted) || product_.converting()) return;
  steps_.look_ahead(forecast_.outlook(), 2e6 * product_.choice().usual_trial_seconds(), converted);
  if (!converted) return;
  product_.take(steps_.converted());
  if (!steps_.running() && !steps_.converted())
    product_.keep_rows(steps_.best_us(true), steps_.best_us(false));
}

// Saad 2003, algorithms 6.18 and 9.1.
Status Iterations::cg(const Buffer& b, Buffer& x) {
  CgState cg{x, vectors_.allocate(), vectors_.allocate(), vectors_.allocate(),
             diagonal_ != nullptr ? vectors_.allocate() : nullptr};
  if (!status().ok()) return status();
  vectors_.copy(b, *cg.r);
  cg.z = cg.own_z ? cg.own_z.get() : cg.r.get();
  (void)preconditioned(*cg.r, cg.own_z);
  vectors_.copy(*cg.z, *cg.p);
  cg.rr = vectors_.dot(*cg.r, *cg.r);
  cg.rz = cg.own_z ? vectors_.dot(*cg.r, *cg.z) : cg.rr;
  bool ended = done(std::sqrt(cg.rr));
  while (!ended) ended = fuses() ? steps_fused(cg) : step_apart(cg);
  return status();
}

// van der Vorst 1992, preconditioned from the right.
Status Iterations::bicgstab(const Buffer& b, Buffer& x) {
  const auto r = vectors_.allocate(), shadow = vectors_.allocate(), p = vectors_.allocate();
  const auto v = vectors_.allocate(), t = vectors_.allocate(), ms = vectors_.allocate();
  const auto own_mp = diagonal_ != nullptr ? vectors_.allocate() : nullptr;
  if (!status().ok()) return status();
  vectors_.copy(b, *r);
  vectors_.copy(*r, *shadow);
  vectors_.copy(*r, *p);
  double rr = vectors_.dot(*r, *r);
  double rho = rr;
  while (!done(std::sqrt(rr))) {
    ++report_.iterations;
    const Buffer& mp = preconditioned(*p, own_mp);
    multiply(mp, *v);
    const double rv = vectors_.dot(*shadow, *v);
    if (!status().ok()) break;
    if (rv == 0 || rho == 0) {
      end(Ended::breakdown, "the residual has become orthogonal to the first one");
      break;
    }
    const double alpha = rho / rv;
    vectors_.axpby(-alpha, *v, 1, *r);  // s
    if (diagonal_ == nullptr) vectors_.copy(*r, *ms);
    multiply(preconditioned(*r, ms), *t);
    double tr_tt[2], next_rr[2];
    vectors_.dots(*r, *t, tr_tt);
    const double omega = tr_tt[1] > 0 ? tr_tt[0] / tr_tt[1] : 0;
    vectors_.axpby(-omega, *t, 1, *r);
    vectors_.dots(*shadow, *r, next_rr);
    rr = next_rr[1];
    if (!std::isfinite(rr) || !std::isfinite(alpha)) {
      rr = HUGE_VAL;
      continue;  // x stays as it is
    }
    vectors_.axpby(alpha, mp, 1, x);
    vectors_.axpby(omega, *ms, 1, x);
    if (omega == 0 && std::sqrt(rr) > options_.tolerance * norm_of_b_) {
      end(Ended::breakdown, "a step along the residual has no length");
      break;
    }
    if (omega == 0) continue;
    const double beta = next_rr[0] / rho * (alpha / omega);
    vectors_.axpby(-omega, *v, 1, *p);
    vectors_.axpby(1, *r, beta, *p);
    rho = next_rr[0];
  }
  return status();
}

}  // namespace idletune::krylov

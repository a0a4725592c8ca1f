#include "agent/host/lab/regret/course.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace idletune::regret {
namespace {

Nanoseconds times(Nanoseconds time, double count) {
  return Nanoseconds(std::llround(std::min(real_ns(time) * count, 9e18)));
}

}  // namespace

Course::Course(double compile_ns, Nanoseconds launch, std::optional<LedgerOptions> ledger)
    : start_launch_(launch), launch_(launch), compile_(compile_ns), spent_(compile_ns) {
  if (ledger) ledger_.emplace(*ledger);
  pass_launches(1);  // the first launch is what tells how long one takes
}

std::optional<Nanoseconds> Course::allowance_after(double launches) const {
  if (!ledger_) return std::nullopt;
  Ledger later = *ledger_;
  credit(later, launches - launches_);
  return later.allowance();
}

Promise Course::promise_after(double launches, double share) const {
  Promise promise;
  promise.share = share;
  promise.untuned = start_launch_;
  promise.untuned_past = times(start_launch_, launches);
  promise.charged = times(Nanoseconds{1}, tuning_);
  return promise;
}

void Course::make_step(double at_launch, Nanoseconds cost, Nanoseconds launch) {
  pass_launches(at_launch - launches_);
  if (ledger_) {
    ledger_->charge_busy(cost);
    const std::int64_t over = ledger_->state().charged_ns - ledger_->bound_ns();
    overdrawn_ = std::max(overdrawn_, static_cast<double>(over));
  }
  spent_ += real_ns(cost);
  tuning_ += real_ns(cost);
  launch_ = launch;
}

void Course::credit(Ledger& ledger, double launches) const {
  const auto count = static_cast<std::int64_t>(launches);
  ledger.credit(launch_ * count, (start_launch_ - launch_) * count);
}

void Course::pass_launches(double launches) {
  spent_ += launches * real_ns(launch_);
  launches_ += launches;
  if (ledger_) credit(*ledger_, launches);
}

// The least number of launches from now on after which the ledger allows `charge`.
double Course::launches_until(Nanoseconds charge) const {
  if (!ledger_ || ledger_->allows(charge)) return 0;
  const double per_launch =
      ledger_->options().share * real_ns(launch_) + real_ns(start_launch_ - launch_);
  const double missing = real_ns(charge) - real_ns(ledger_->allowance()) + overdraft();
  if (!(per_launch > 0) || missing > per_launch * kMostLaunches) {
    return std::numeric_limits<double>::infinity();
  }
  // The ledger rounds down to nanoseconds: the estimate may be one or two launches short.
  double launches = std::max(1.0, std::floor(missing / per_launch) - 2);
  while (!allows_after(launches, charge)) ++launches;
  return launches;
}

double Course::overdraft() const {
  return std::max(0.0, static_cast<double>(ledger_->state().charged_ns - ledger_->bound_ns()));
}

bool Course::allows_after(double launches, Nanoseconds charge) const {
  Ledger later = *ledger_;
  credit(later, launches);
  return later.allows(charge);
}

}  // namespace idletune::regret

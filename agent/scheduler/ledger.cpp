#include "agent/scheduler/ledger.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "agent/scheduler/nanoseconds.hpp"

namespace idletune {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return b > 0 ? kMax : -kMax;
  return sum;
}

std::int64_t not_negative(Nanoseconds duration) {
  return std::max<std::int64_t>(0, duration.count());
}

double clamped(double value, double low, double high, double fallback) {
  return std::isfinite(value) ? std::clamp(value, low, high) : fallback;
}

Nanoseconds weighted(double kappa, Nanoseconds duration) {
  return from_ns(std::ceil(kappa * real_ns_from_0(duration)));
}

}  // namespace

Ledger::Ledger(const LedgerOptions& options, const LedgerState& state)
    : options_(options), state_(state) {
  options_.share = clamped(options_.share, 0.0, 1.0, 0.0);
  options_.kappa_idle = clamped(options_.kappa_idle, 0.0, 1e6, 1.0);
  options_.kappa_cpu = clamped(options_.kappa_cpu, 0.0, 1e6, 1.0);
  state_.kernel_ns = std::max<std::int64_t>(0, state_.kernel_ns);
  state_.charged_ns = std::max<std::int64_t>(0, state_.charged_ns);
}

std::int64_t Ledger::share_ns() const {
  return from_ns(options_.share * static_cast<double>(state_.kernel_ns)).count();
}

std::int64_t Ledger::bound_ns() const {
  return std::max<std::int64_t>(0, saturating_add(share_ns(), state_.savings_ns));
}

Nanoseconds Ledger::allowance_of_share() const {
  return Nanoseconds(std::max<std::int64_t>(0, share_ns() - state_.charged_ns));
}

Nanoseconds Ledger::allowance() const {
  return Nanoseconds(std::max<std::int64_t>(0, bound_ns() - state_.charged_ns));
}

Nanoseconds Ledger::debt() const {
  return Nanoseconds(std::max<std::int64_t>(0, state_.charged_ns - bound_ns()));
}

Nanoseconds Ledger::idle_charge(Nanoseconds duration) const {
  return weighted(options_.kappa_idle, duration);
}

Nanoseconds Ledger::cpu_charge(Nanoseconds duration) const {
  return weighted(options_.kappa_cpu, duration);
}

void Ledger::charge_idle(Nanoseconds duration, Nanoseconds interference) {
  state_.charged_ns = saturating_add(state_.charged_ns, idle_charge(duration).count());
  state_.charged_ns = saturating_add(state_.charged_ns, not_negative(interference));
}

void Ledger::charge_busy(Nanoseconds duration) {
  state_.charged_ns = saturating_add(state_.charged_ns, not_negative(duration));
}

void Ledger::charge_cpu(Nanoseconds duration) {
  state_.charged_ns = saturating_add(state_.charged_ns, cpu_charge(duration).count());
}

void Ledger::credit(Nanoseconds kernel_time, Nanoseconds savings_lower_bound) {
  state_.kernel_ns = saturating_add(state_.kernel_ns, not_negative(kernel_time));
  state_.savings_ns = saturating_add(state_.savings_ns, savings_lower_bound.count());
}

}  // namespace idletune

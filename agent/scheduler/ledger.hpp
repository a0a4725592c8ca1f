// The 2 % promise as a ledger: what tuning was charged never exceeds a share of the application's
// kernel time so far plus a lower bound of what tuning has saved it.
#pragma once

#include <cstdint>

#include <idletune/device.hpp>

namespace idletune {

// What is in force is AgentOptions' (overhead_limit, idle_cost, compile_cost), which own the
// values; here nothing may be charged and nothing costs until somebody says otherwise.
struct LedgerOptions {
  double share = 0;       // of the application's kernel time that tuning may cost; in [0, 1]
  double kappa_idle = 0;  // charge for one ns of idle device time used, besides interference
  double kappa_cpu = 0;   // charge for one ns of low-priority CPU time (compilation)
};

// Plain data, kept in the journal. All figures in nanoseconds, never decreasing (except `savings`,
// which a regression lowers).
struct LedgerState {
  std::int64_t kernel_ns = 0;   // the application's kernel time so far
  std::int64_t savings_ns = 0;  // lower bound of what tuning saved; negative: it lost
  std::int64_t charged_ns = 0;  // what tuning was charged, weights applied
};

// Invariant: if every charge is at most what `allows` admitted before it and savings do not fall,
// then state().charged_ns <= bound_ns() at all times. A charge larger than predicted is booked in
// full (the ledger never lies) and blocks further steps until kernel time or savings have covered
// it. Arithmetic saturates; negative durations count as 0. One thread at a time.
class Ledger {
 public:
  Ledger() = default;
  explicit Ledger(const LedgerOptions& options, const LedgerState& state = {});

  // What may still be charged now; never negative.
  Nanoseconds allowance() const;
  // The same whatever launches lost: of the share alone.
  Nanoseconds allowance_of_share() const;
  // Whether `charge` (weights applied; see the `..._charge` functions) may be made now.
  bool allows(Nanoseconds charge) const { return charge <= allowance(); }
  // share * kernel time + savings, never negative.
  std::int64_t bound_ns() const;
  // What was charged beyond the bound (a step outlived its estimate, or savings fell); else 0.
  Nanoseconds debt() const;

  // What using the device for `duration` in a gap would be charged: kappa, rounded up.
  Nanoseconds idle_charge(Nanoseconds duration) const;
  Nanoseconds cpu_charge(Nanoseconds duration) const;

  // Idle device time was used; `interference` is what it measurably delayed the application by.
  void charge_idle(Nanoseconds duration, Nanoseconds interference = Nanoseconds{0});
  // Time taken from the application itself (an in-place measurement slower than the incumbent).
  void charge_busy(Nanoseconds duration);
  void charge_cpu(Nanoseconds duration);
  // The application ran `kernel_time` and is known to have saved at least `savings_lower_bound` of
  // it against never tuning; negative: it lost that much.
  void credit(Nanoseconds kernel_time, Nanoseconds savings_lower_bound = Nanoseconds{0});

  const LedgerState& state() const { return state_; }
  const LedgerOptions& options() const { return options_; }

 private:
  std::int64_t share_ns() const;

  LedgerOptions options_;
  LedgerState state_;
};

}  // namespace idletune

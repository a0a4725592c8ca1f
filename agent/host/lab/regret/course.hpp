// When the steps of a TuningRun happen, and how much time has passed then. Host side.
#pragma once

#include <optional>

#include <idletune/device.hpp>

#include "agent/scheduler/amortization.hpp"
#include "agent/scheduler/ledger.hpp"
#include "agent/scheduler/nanoseconds.hpp"

namespace idletune::regret {

inline constexpr double kMostLaunches = 1e12;

// The steps happen at once, or each as soon as the ledger allows it. Knows the time that has passed
// after the steps made so far, for every number of launches at once.
class Course {
 public:
  // `compile_ns`: what the application compiled before its first launch; `launch`: a launch of what
  // it starts with. Without a ledger steps happen at once.
  Course(double compile_ns, Nanoseconds launch, std::optional<LedgerOptions> ledger);

  double launches() const { return launches_; }   // made before the last step
  Nanoseconds launch() const { return launch_; }  // what one takes since then
  // The launch after which `charge` may be spent; infinity if never.
  double next_launch(Nanoseconds charge) const { return launches_ + launches_until(charge); }
  // None without a ledger.
  std::optional<Nanoseconds> allowance_after(double launches) const;
  // What an application takes in all that makes no step any more.
  double total_ns(double launches) const {
    return spent_ + (launches - launches_) * real_ns(launch_);
  }
  // Never tuning, plus the share of it that tuning may cost.
  double promised_ns(double launches, double share) const {
    return compile_ + (1 + share) * launches * real_ns(start_launch_);
  }
  // What is left of the promise for an application that has made `launches` launches; savings are
  // the ledger's affair.
  Promise promise_after(double launches, double share) const;

  // A step (or the baseline) at that launch; from then on launches take `launch`.
  void make_step(double at_launch, Nanoseconds cost, Nanoseconds launch);
  double tuning_ns() const { return tuning_; }  // of the steps so far
  // The most that the ledger's charges ever exceeded its bound by.
  double overdrawn_ns() const { return overdrawn_; }

 private:
  void credit(Ledger& ledger, double launches) const;
  void pass_launches(double launches);
  double launches_until(Nanoseconds charge) const;
  double overdraft() const;
  bool allows_after(double launches, Nanoseconds charge) const;

  Nanoseconds start_launch_;
  Nanoseconds launch_;
  std::optional<Ledger> ledger_;
  double launches_ = 0;
  double compile_;
  double spent_;
  double tuning_ = 0;
  double overdrawn_ = 0;
};

}  // namespace idletune::regret

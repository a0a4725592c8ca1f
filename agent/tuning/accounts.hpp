// What tuning costs the application and what it brings: every charge and every credit of the ledger
// passes here.
#pragma once

#include <idletune/options.hpp>

#include "agent/journal/entries.hpp"
#include "agent/scheduler/idle_gaps.hpp"
#include "agent/scheduler/ledger.hpp"
#include "agent/tuning/stage_in_flight.hpp"
#include "agent/tuning/tuning_task.hpp"

namespace idletune::detail {

// One thread at a time, the engine's. Options must outlive it.
class Accounts {
 public:
  // Goes on with what the journal kept.
  Accounts(const AgentOptions& options, const journal::Ledger& kept, Nanoseconds now);

  // A stage ended. `interference`: how long it kept the application from the device at most. Only
  // stages in the application's idle time are charged, compilations for the processor.
  void stage_ended(ShapeTask& task, TimeSource source, const TrialOutcome& outcome,
                   Nanoseconds interference, Nanoseconds now);
  // A stage ended of which experience had told the 90th percentile.
  void forecast_ended(bool held);
  // A variant was compiled for launches.
  void build_ended(Nanoseconds processor) { build_processor_ += processor; }
  // A launch of the application took that much longer because it timed a candidate.
  void launch_was_slower(ShapeTask& task, Nanoseconds loss);
  void launch_was_slower(Nanoseconds loss) { ledger_.charge_busy(loss); }
  // Notes::account.
  void library_worked(Nanoseconds work, Nanoseconds lost) {
    ledger_.credit(work);
    ledger_.charge_busy(lost);
  }
  // The launches since the last call, and the setups that they made, at what they take now. Before
  // that changes, call it.
  void credit_launches(ShapeTask& task, Nanoseconds now);

  // Whether `charge` may be spent on the shape now: none, or what forbids it (trials, limit or
  // ledger).
  Blocker blocker(const ShapeTask& task, TimeSource source, Nanoseconds charge) const;
  // Whether a compilation that probably takes `work` may begin now.
  bool may_compile(TimeSource source, Nanoseconds work, Nanoseconds now) const {
    return source != TimeSource::idle || compiler_.allows(now, work);
  }
  // How long a compilation for the shape may take, with so many launches to come, until the promise
  // is broken if nothing is found.
  Nanoseconds compile_limit(const ShapeTask& task, double launches) const;
  // How long until then.
  Nanoseconds compile_ready_in(Nanoseconds work, Nanoseconds now) const {
    return compiler_.ready_in(now, work);
  }
  // What the shape's own launches of this session can cover. Savings are the ledger's affair.
  Promise promise(const ShapeTask& task) const;

  const Ledger& ledger() const { return ledger_; }
  journal::Ledger to_keep() const;
  // In this process: of all stages; processor time of the helper and of compiling for launches.
  Nanoseconds tuning_wall() const { return tuning_wall_; }
  Nanoseconds helper_processor() const { return helper_processor_; }
  Nanoseconds build_processor() const { return build_processor_; }
  // Of the stages in idle time that need the device.
  Nanoseconds gap_wall() const { return gap_wall_; }

 private:
  void charge_setups(ShapeTask& task);

  const AgentOptions& options_;
  journal::Ledger kept_;
  Ledger ledger_;
  DutyLimiter compiler_;
  Nanoseconds tuning_wall_{0};
  Nanoseconds gap_wall_{0};
  Nanoseconds helper_processor_{0};
  Nanoseconds build_processor_{0};
  Nanoseconds device_time_{0};  // of all trials in this process
};

}  // namespace idletune::detail

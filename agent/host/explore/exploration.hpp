// Measures configurations at one problem, or at many, one configuration after the other, each
// compiled once, in a way that survives everything.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "agent/host/explore/log.hpp"
#include "agent/host/explore/order.hpp"
#include "agent/host/explore/pairs.hpp"
#include "agent/host/explore/results.hpp"
#include "agent/host/explore/settings.hpp"
#include "agent/journal/journal.hpp"
#include "agent/trial/journaled_trial.hpp"
#include "agent/trial/trial.hpp"
#include "models/package/package_specs.hpp"

namespace idletune::explore {

// Used by one thread. All references must outlive it.
class Exploration {
 public:
  // `log` has what earlier runs measured; `journal` what is quarantined, on this device.
  Exploration(std::shared_ptr<const KernelPackage> package, const DeviceInfo& device,
              const Order& order, Settings settings, TrialRunner& runner, journal::Journal& journal,
              Log& log);

  struct Progress {
    std::uint64_t done = 0;      // pairs of a configuration and a problem, earlier runs included
    std::uint64_t total = 0;     // the same
    std::uint64_t left_out = 0;  // of those done: not run, since far too slow nearby
    bool again = false;          // the finalists are timed again
    const ExploredConfiguration* last = nullptr;  // null before the first of this run
  };
  Progress progress() const;
  // Everything is measured, and the finalists are timed again.
  bool complete() const { return pairs_.complete(settings_.finalists, settings_.rounds); }

  // Measures what is left of the order until `stop` says so (asked between results; it sees how far
  // things are), then times the best of what there is again until `stop` says so again. Every
  // outcome is in the log before the next one begins. Configurations that may have killed a process
  // before come last; one that crashes, hangs or is wrong somewhere is not run at further problems.
  // Errors: those of the log, of the runner, and a reference that fails: such an error says nothing
  // about configurations, and none is recorded.
  Status run(const std::function<bool(const Progress&)>& stop);

 private:
  enum class Fate : std::uint8_t { done, postponed };
  struct Attempt;
  bool stopped();
  Attempt attempt_at(std::uint64_t number, const Configuration& configuration) const;
  journal::Trial trial_of(const Configuration& configuration) const;
  bool refused_beforehand(Attempt& attempt) const;

  TrialRequest request_of(TrialStage stage, std::size_t problem,
                          const Configuration& configuration) const;
  Status run_stage(const TrialRequest& request, JournaledTrial* trial, TrialOutcome& outcome);
  Status judge(const TrialOutcome& outcome, TrialStage stage, std::size_t problem,
               Attempt& attempt);
  Status ask_reference(std::size_t problem);
  Status prepare();

  Status explore_all();
  Status explore_one(std::uint64_t number, bool last_chance, Fate& fate);
  Status try_everywhere(Attempt& attempt);
  Status compile_and_check(Attempt& attempt);
  Status check(Attempt& attempt);
  Status measure(std::size_t problem, Attempt& attempt);
  Status take_samples(const TrialRequest& request, std::size_t problem, Attempt& attempt);
  Status time_finalists();
  Status time_again(std::uint64_t number, const std::vector<std::size_t>& problems,
                    std::uint32_t round);
  Status control_if_due();
  Status record(ExploredConfiguration& result);
  Status record_rest(Attempt& attempt);

  using Clock = std::chrono::steady_clock;
  std::shared_ptr<const KernelPackage> package_;
  std::uint64_t device_key_;
  std::uint64_t driver_key_;
  const Order& order_;
  Settings settings_;
  TrialRunner& runner_;
  journal::Journal& journal_;
  Log& log_;
  Pairs pairs_;
  std::vector<std::string> no_reference_;  // by problem: why the reference does not run there
  std::vector<bool> reference_ran_;        // by problem
  Clock::time_point next_control_;
  const std::function<bool(const Progress&)>* stop_ = nullptr;
  std::size_t results_before_ = 0;  // this run
  bool prepared_ = false;
  bool control_ran_ = false;
  bool again_ = false;
  bool stopped_ = false;
};

}  // namespace idletune::explore

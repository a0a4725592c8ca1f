// Measures a tuning space, one configuration after the other, in a way that survives everything.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "agent/explore/log.hpp"
#include "agent/explore/order.hpp"
#include "agent/explore/results.hpp"
#include "agent/journal/journal.hpp"
#include "agent/trial/journaled_trial.hpp"
#include "agent/trial/trial.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::explore {

struct Settings {
  Shape shape;
  std::string captured;  // file of the arguments that an application lent; empty: none
  std::uint64_t captured_digest = 0;
  std::uint64_t seed = 1;      // of the order
  std::uint32_t checks = 2;    // sets of inputs that the output is compared for; 1 or 2
  std::uint32_t repeats = 10;  // timed runs per configuration, 1 to kMaxRepeats
  // The timed runs of a configuration end when they have taken this long together, but not before
  // kLeastRepeats runs, unless a single one takes that long.
  Nanoseconds measure_at_most{std::chrono::milliseconds(100)};
  Nanoseconds run_deadline{std::chrono::seconds(2)};       // of one run; then it is a timeout
  Nanoseconds control_interval{std::chrono::seconds(30)};  // 0: the default is never timed
  // Asked while a stage runs: true ends run() at once, with an error that says nothing about the
  // configuration. The helper ends with its runner.
  bool (*give_up)() = nullptr;
};
inline constexpr std::uint32_t kMaxRepeats = 100;
inline constexpr std::uint32_t kLeastRepeats = 3;

// The settings and everything else that results must have in common to belong together.
Identity identity_of(const KernelPackage& package, const DeviceInfo& device,
                     const Settings& settings);

// Used by one thread. All references must outlive it.
class Exploration {
 public:
  // `log` has what earlier runs measured; `journal` what is quarantined, on this device.
  Exploration(std::shared_ptr<const KernelPackage> package, const DeviceInfo& device,
              const Order& order, const Settings& settings, TrialRunner& runner,
              journal::Journal& journal, Log& log);

  struct Progress {
    std::uint64_t done = 0;                       // of the order, earlier runs included
    std::uint64_t total = 0;                      // the order's size
    const ExploredConfiguration* last = nullptr;  // null before the first of this run
  };
  // Measures what is left of the order until `stop` says so (asked between configurations; it sees
  // how far things are). Every outcome is in the log before the next configuration begins.
  // Configurations that may have killed a process before come last. Errors: those of the log, of
  // the runner, and a reference that fails: such an error says nothing about configurations, and
  // none is recorded.
  Status run(const std::function<bool(const Progress&)>& stop);

 private:
  enum class Fate : std::uint8_t { done, postponed };
  bool is_done(std::uint64_t number) const { return done_.count(number) != 0; }
  Status prepare();
  Status explore_all(const std::function<bool(const Progress&)>& stop);
  Status explore_one(std::uint64_t number, bool last_chance, Fate& fate);
  Status control_if_due();
  Status try_stages(ExploredConfiguration& result, JournaledTrial* trial);
  Status check(ExploredConfiguration& result, JournaledTrial* trial);
  Status measure(ExploredConfiguration& result, JournaledTrial* trial);
  Status take_samples(std::uint32_t repeats, Nanoseconds stop_above, ExploredConfiguration& result,
                      JournaledTrial* trial);
  Status run_stage(const TrialRequest& request, JournaledTrial* trial, TrialOutcome& outcome);
  // True if the stage went well; otherwise `result` says why not, or `failure` that it is not the
  // configuration's fault.
  bool accept(const TrialOutcome& outcome, ExploredConfiguration& result, Status& failure) const;
  TrialRequest request_of(TrialStage stage, const Configuration& configuration) const;
  journal::Trial trial_of(const Configuration& configuration) const;
  bool refused_beforehand(ExploredConfiguration& result) const;
  Status record(const ExploredConfiguration& result);

  std::shared_ptr<const KernelPackage> package_;
  std::uint64_t device_key_;
  std::uint64_t driver_key_;
  const Order& order_;
  Settings settings_;
  TrialRunner& runner_;
  journal::Journal& journal_;
  Log& log_;
  std::set<std::uint64_t> done_;
  std::vector<std::uint64_t> postponed_;
  using Clock = std::chrono::steady_clock;
  Clock::time_point next_control_;
  bool control_ran_ = false;
};

}  // namespace idletune::explore

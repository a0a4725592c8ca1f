// Measures a set of configurations at many problem sizes: one configuration after the other, each
// compiled once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "agent/explore/log.hpp"
#include "agent/explore/results.hpp"
#include "agent/explore/shape_list.hpp"
#include "agent/journal/journal.hpp"
#include "agent/trial/journaled_trial.hpp"
#include "agent/trial/trial.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::explore {

// A family's parameter that says which of its kernels runs, where its description names no other.
inline constexpr char kMemberParameter[] = "ALGORITHM";

// The configurations in which these parameters (by number) have these values.
using SpacePart = std::vector<std::pair<std::size_t, std::int64_t>>;

// The default of every member of a family (of a kernel that is none: its default), then valid
// configurations drawn by `seed` without repetition, `samples` of each member and of each of
// `parts`, these in turn: a longer list begins with a shorter one. Without `samples` all there are.
// Errors: unsupported (all of a space whose configurations are not numbered).
Result<std::vector<Configuration>> configurations_to_sweep(
    const KernelPackage& package, std::uint64_t seed, std::optional<std::uint64_t> samples,
    const std::vector<SpacePart>& parts = {});

struct SweepSettings {
  std::vector<Shape> shapes;
  std::uint64_t seed = 1;
  std::string chosen;         // how configurations were, if not drawn: part of the identity
  std::uint32_t repeats = 3;  // timed runs of a configuration at a problem, at most
  // They end when they have taken this long together, but there is at least one.
  Nanoseconds measure_at_most{std::chrono::milliseconds(50)};
  // A configuration that takes so many times the best known time of a problem runs there once.
  double hopeless = 3;
  // One that took so many times the best known time at each of the problems most like another one
  // is not run there at all; 0: it is.
  double far_too_slow = 8;
  Nanoseconds run_deadline{std::chrono::seconds(20)};  // of one run; then it is a timeout
  // Where outputs are compared in full, drawn anew for each configuration: among the smallest
  // problems, the smallest always, and one among the larger ones.
  std::uint32_t checks = 6;
  double small_extent = 4 << 20;       // products of dimensions up to here are small
  double largest_extent = 256u << 20;  // the reference takes too long beyond
  // The best few configurations of every problem are timed again, so many times: the smallest of
  // many noisy times flatters itself.
  std::uint32_t finalists = 3;
  std::uint32_t rounds = 2;
  // Asked while a stage runs: true ends run() at once, with an error that says nothing about the
  // configuration. The helper ends with its runner.
  bool (*give_up)() = nullptr;
};

// The settings and everything else that results must have in common to belong together.
Identity sweep_identity(const KernelPackage& package, const DeviceInfo& device,
                        const SweepSettings& settings);

// The result of configuration c at problem s has the number c * problems + s. What is timed again
// has the number of what it was: its samples belong together.
//
// Used by one thread. All references must outlive it.
class Sweep {
 public:
  Sweep(std::shared_ptr<const KernelPackage> package, const DeviceInfo& device,
        const std::vector<Configuration>& configurations, const SweepSettings& settings,
        TrialRunner& runner, journal::Journal& journal, Log& log);

  struct Progress {
    std::uint64_t done = 0;      // pairs of a configuration and a problem, earlier runs included
    std::uint64_t total = 0;     // the same
    std::uint64_t left_out = 0;  // of those done: not run, since far too slow nearby
    bool again = false;          // the finalists are timed again
  };
  Progress progress() const;
  // Everything is measured, and the finalists are timed again.
  bool complete() const;

  // Measures what is left until `stop` says so (asked between problems), then times the best of
  // what there is again until `stop` says so again. Every outcome is in the log before the next one
  // begins. A configuration that may have killed a process before comes last; one that crashes,
  // hangs or is wrong somewhere is not run at further problems. Errors: those of the log and of the
  // runner, and a reference that fails.
  Status run(const std::function<bool(const Progress&)>& stop);

 private:
  struct Pair {
    bool done = false;
    bool left_out = false;     // it is done without a result
    std::uint32_t rounds = 0;  // how often it was timed again
    double first_ns = 0;       // before that; 0: not correct
  };
  enum class Fate : std::uint8_t { done, postponed };

  std::uint64_t number(std::size_t configuration, std::size_t shape) const {
    return std::uint64_t{configuration} * settings_.shapes.size() + shape;
  }
  bool stopped();
  bool all_done(std::size_t configuration) const;
  double distance(std::size_t a, std::size_t b) const;
  bool far_too_slow_nearby(std::size_t configuration, std::size_t shape) const;
  bool leave_out(std::size_t configuration, std::size_t shape);
  void note(const ExploredConfiguration& result);
  Status record(ExploredConfiguration result);

  Status sweep_all();
  Status sweep_one(std::size_t configuration, bool last_chance, Fate& fate);
  Status try_everywhere(std::size_t configuration, JournaledTrial& trial,
                        ExploredConfiguration& worst);
  Status compile(std::size_t configuration, JournaledTrial& trial, ExploredConfiguration& result);
  Status check(std::size_t configuration, JournaledTrial& trial, ExploredConfiguration& result);
  Status time_runs(std::size_t shape, JournaledTrial& trial, ExploredConfiguration& result);
  Status take_samples(const TrialRequest& request, JournaledTrial& trial,
                      ExploredConfiguration& result);
  Status record_rest(const ExploredConfiguration& why);
  std::vector<std::size_t> checked_shapes(std::size_t configuration) const;
  bool exists(std::size_t configuration, std::size_t shape) const;

  std::vector<std::vector<std::size_t>> finalists() const;
  Status time_finalists();
  Status time_again(std::size_t configuration, const std::vector<std::size_t>& shapes,
                    std::uint32_t round);

  Status run_stage(const TrialRequest& request, JournaledTrial& trial, TrialOutcome& outcome);
  TrialRequest request_of(TrialStage stage, std::size_t configuration, std::size_t shape) const;
  ExploredConfiguration result_of(std::size_t configuration, std::size_t shape) const;
  journal::Trial trial_of(std::size_t configuration) const;

  std::shared_ptr<const KernelPackage> package_;
  std::uint64_t device_key_;
  std::uint64_t driver_key_;
  const std::vector<Configuration>& configurations_;
  SweepSettings settings_;
  TrialRunner& runner_;
  journal::Journal& journal_;
  Log& log_;
  std::vector<Pair> pairs_;                // by number
  std::vector<double> best_ns_;            // by shape; 0: none yet
  std::vector<std::size_t> by_extent_;     // shapes, small ones first
  std::vector<std::vector<double>> logs_;  // of the shapes' dimensions and features
  std::uint64_t done_ = 0;
  std::uint64_t left_out_ = 0;
  const std::function<bool(const Progress&)>* stop_ = nullptr;
  bool again_ = false;
  bool stopped_ = false;
};

}  // namespace idletune::explore

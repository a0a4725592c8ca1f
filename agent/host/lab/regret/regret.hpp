// Regret: what an application with N launches on a recorded device takes in all under different
// policies of tuning, down to not tuning and up to knowing everything. Host side.
//
// Time is virtual and sums up what the history recorded; launches are never looped over. Every
// policy pays for the compilations it needs. Steps of tuning are made in the foreground: the
// application waits, and their time counts in full. See README.md beside this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/aims.hpp>
#include <idletune/result.hpp>
#include <idletune/verdict.hpp>

#include "agent/host/lab/regret/recorded_device.hpp"
#include "agent/search/search_learner.hpp"
#include "agent/tuning/kernel_model.hpp"
#include "models/host/history/history.hpp"
#include "models/space/space.hpp"

namespace idletune::regret {

// What the application runs from its first launch on, until something better is adopted.
enum class Start : std::uint8_t {
  first_pick = 0,  // of the model; where it has none, or that fails on this device (its compile
                   // time is then paid in vain), a random one
  random = 1,      // a configuration that runs correctly, drawn uniformly by the seed
  median = 2       // the configuration of the median run time
};
const char* start_name(Start start);  // "first_pick", "random", "median"

enum class Policy : std::uint8_t {
  never = 0,           // the start, for ever
  first_pick,          // the model's first pick from the first launch on, for ever; NaN without one
                       // (if it fails: its compile time, then the start)
  always,              // random search through the whole space before the first launch
  ktt,                 // KTT's dynamic tuning: each launch runs another configuration, in random
                       // order, until all have run; then the best. No start, no checks
  idletune,            // decision, searcher and ledger as in the agent
  idletune_no_ledger,  // the same without the ledger: steps are made as soon as they are decided
  clairvoyant,         // the steps of idletune_no_ledger, ended at the best moment
  clairvoyant_promise,  // the same as long as no step could, had it been in vain, have made the
                        // total exceed never tuning by more than the overhead limit
  clairvoyant_ledger,   // the steps of idletune, ended at the best moment
  limit                 // the configuration with the least compile time + N launches, from the
                        // first launch on: no policy can be below
};
inline constexpr std::size_t kPolicyCount = 10;
// The name in the command's JSON: "default" for never, else as above.
const char* policy_name(Policy policy);

template <typename T>
class PerPolicy {
 public:
  T& operator[](Policy policy) { return values_[static_cast<std::size_t>(policy)]; }
  const T& operator[](Policy policy) const { return values_[static_cast<std::size_t>(policy)]; }

 private:
  std::array<T, kPolicyCount> values_{};
};

// 1, 3, 10, 30, ... 10^7.
std::vector<double> default_launches();

struct RegretOptions {
  std::vector<double> launches = default_launches();  // whole numbers, 1 to 10^12
  Start start = Start::first_pick;
  bool ledger = true;                      // false: `idletune` is the same as `idletune_no_ledger`
  const SearchLearner* learner = nullptr;  // null: none; not owned
};

// A recorded device to play on. Immutable; several threads may play on it.
class RegretTarget {
 public:
  // Errors: those of space_of and RecordedDevice::of. The history must outlive this.
  static Result<RegretTarget> of(const History& history);

  const History& history() const { return *history_; }
  const Space& space() const { return space_; }
  const RecordedDevice& device() const { return device_; }

 private:
  RegretTarget(const History& history, Space space, RecordedDevice device)
      : history_(&history), space_(std::move(space)), device_(std::move(device)) {}
  const History* history_;
  Space space_;
  RecordedDevice device_;
};

// How one application's tuning went, per number of launches.
struct TuningCourse {
  std::uint64_t steps = 0;          // configurations tried
  double tuning_ms = 0;             // what they and the baseline took
  double final_relative = 0;        // t_best / t of what ran in the end
  Verdict verdict = Verdict::stop;  // of the last decision
  std::string reason;
  double overdrawn_ms = 0;  // most that the ledger's charges ever exceeded its bound by
};

// One application: one target, one seed, one number of launches.
struct Application {
  double launches = 0;
  bool ledger = true;  // RegretOptions::ledger
  PerPolicy<double> total_ms;
  TuningCourse idletune;
  TuningCourse idletune_no_ledger;
  std::uint64_t clairvoyant_steps = 0;         // steps made by Policy::clairvoyant
  std::uint64_t clairvoyant_ledger_steps = 0;  // and by Policy::clairvoyant_ledger
};

// Plays one application per number of launches in `options`, in their order; the seed decides what
// the searcher draws, a random start, and the order of KTT's rule. `model` may be null: there is
// none. Errors: invalid_argument for a number of launches out of range; internal.
Result<std::vector<Application>> play_applications(const RegretTarget& target,
                                                   const std::shared_ptr<const KernelModel>& model,
                                                   const RegretOptions& options,
                                                   std::uint64_t seed);

// The results of the training histories with run times, statuses and compile times dealt anew among
// the configurations, at random: a model learned from it is wrong on purpose, yet has the right
// distributions. Rows of status `constraints` stay as they are. Samples and extras are left out.
History shuffled_results(const History& history, std::uint64_t seed);

// `rows` of the history's valid configurations, drawn uniformly; all where it has no more. Samples
// and extras are left out.
History sampled_rows(const History& history, std::size_t rows, std::uint64_t seed);

}  // namespace idletune::regret

#include "agent/slots/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <idletune/text.hpp>

#include "agent/trial/trial.hpp"

namespace idletune::slots {
namespace {

constexpr double kWrongly = 0.01;   // how often a test may be, either way
constexpr double kWorse = 1.1;      // of times, beyond noise
constexpr std::size_t kFewest = 5;  // picks of the confirmed model that tell how good they are

// The logarithm of how much more often `hits` of `all` are seen with the second share.
double evidence(double hits, double all, double share, double other) {
  return hits * std::log(other / share) + (all - hits) * std::log((1 - other) / (1 - share));
}

double bound() { return std::log((1 - kWrongly) / kWrongly); }

Configuration pick_of(const KernelKnowledge* knowledge, const KernelPackage& package,
                      const Shape& problem, const DeviceInfo& device) {
  if (knowledge == nullptr) return package.default_configuration();
  const std::optional<FirstPick> pick = first_pick(*knowledge, package.space(), problem,
                                                   device.name, package.default_configuration());
  return pick ? pick->configuration : package.default_configuration();
}

// Beside the default's, by one clock; 0: unknown.
double relative_time(const journal::Measurement& measurement) {
  if (measurement.default_time.count() == 0) return 0;
  return static_cast<double>(measurement.median.count()) /
         static_cast<double>(measurement.default_time.count());
}

// Of two at the same problem, `other` correct.
bool is_worse(const journal::Measurement& one, const journal::Measurement& other) {
  if (one.status != TrialStatus::correct) return true;
  const double time = relative_time(one), beside = relative_time(other);
  if (time > 0 && beside > 0) return time > kWorse * beside;
  return static_cast<double>(one.median.count()) >
         kWorse * static_cast<double>(other.median.count());
}

}  // namespace

TrialCount count_trials(const journal::State& state) {
  TrialCount count;
  state.for_each_measurement([&](const journal::Measurement& each) {
    const bool named =
        each.origin == journal::Origin::first_pick || each.origin == journal::Origin::portfolio;
    count.trials += named ? 1 : 0;
    count.deaths += named && is_death(each.status) ? 1 : 0;
  });
  return count;
}

void PickCount::add(const journal::State& state, const KernelPackage& package,
                    const DeviceInfo& device, const Model* confirmed, const Model& trial) {
  const std::string inputs = package.inputs().names();
  const KernelKnowledge* ours = trial.kernel(package.name(), package.space(), inputs);
  if (ours == nullptr) return;
  const KernelKnowledge* theirs =
      confirmed != nullptr ? confirmed->kernel(package.name(), package.space(), inputs) : nullptr;
  Shape shape;
  Configuration our_pick, their_pick;  // there
  bool known = false;
  std::vector<journal::Measurement> alone;  // of ours, where theirs was not measured
  std::vector<double> others;               // relative times of theirs
  state.for_each_measurement([&](const journal::Measurement& each) {
    const journal::Trial& key = each.trial;
    if (key.kernel != package.digest() || key.device != device.device_key() ||
        key.driver != device.driver_key()) {
      return;
    }
    if (!std::exchange(known, true) || key.shape != shape) {
      shape = key.shape;
      const Shape problem = package.inputs().with_features(shape);
      our_pick = pick_of(ours, package, problem, device);
      their_pick = pick_of(theirs, package, problem, device);
    }
    if (key.configuration == their_pick && relative_time(each) > 0)
      others.push_back(relative_time(each));
    if (key.configuration != our_pick) return;
    journal::Trial other = key;
    other.configuration = their_pick;
    const std::optional<journal::Measurement> beside = state.measurement(other.key());
    if (!beside) return alone.push_back(each);
    // What could not be used of the confirmed model's says nothing of this one's.
    if (beside->status != TrialStatus::correct) return;
    ++problems;
    worse += is_worse(each, *beside) ? 1 : 0;
  });
  if (others.size() < kFewest) return;
  std::sort(others.begin(), others.end());
  const double usual = kWorse * others[others.size() * 7 / 10];
  for (const journal::Measurement& each : alone) {
    const bool correct = each.status == TrialStatus::correct;
    if (correct && relative_time(each) == 0) continue;
    ++problems;
    worse += !correct || relative_time(each) > usual ? 1 : 0;
  }
}

Judgement judge(const PickCount& picks, const TrialCount& before, const TrialCount& now) {
  constexpr double kFewWorse = 0.4, kManyWorse = 0.8, kMoreDeaths = 0.09;
  const double slow = evidence(picks.worse, picks.problems, kFewWorse, kManyWorse);
  if (slow >= bound()) {
    return {ModelVerdict::goes_back,
            joined("its first picks were slower at % of % problems", picks.worse, picks.problems)};
  }
  // A little is believed without having been seen: that two of forty die.
  const double usual =
      (static_cast<double>(before.deaths) + 2) / (static_cast<double>(before.trials) + 40);
  // The journal forgets what is old.
  const std::uint64_t trials = now.trials - std::min(now.trials, before.trials);
  const std::uint64_t deaths = std::min(now.deaths - std::min(now.deaths, before.deaths), trials);
  const double deadly = evidence(static_cast<double>(deaths), static_cast<double>(trials), usual,
                                 std::min(usual + kMoreDeaths, 0.99));
  if (deadly >= bound()) {
    return {ModelVerdict::goes_back,
            joined("% of % trials crashed or hung, where % of % had before", deaths, trials,
                   before.deaths, before.trials)};
  }
  return {slow <= -bound() && deadly <= 0 ? ModelVerdict::stays : ModelVerdict::open,
          std::string()};
}

}  // namespace idletune::slots

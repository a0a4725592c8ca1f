// Which of up to four variants is the fastest, by the application's own launches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <idletune/device.hpp>
#include <idletune/race.hpp>

#include "agent/scheduler/step_plan.hpp"

namespace idletune::detail {

// What runs and up to three candidates, which were checked before, take turns. They are compared by
// the lower quartile of their launches: caches are cold in some of them, and whatever else disturbs
// a launch makes it slower. A candidate that is hopelessly slow ends at once; after kFirstLook
// launches of each the best two go on, and after kSamples of each the better one wins, if it beats
// what runs by the margin: of four variants one is found in 18 launches. Pure logic, no clock.
// One thread.
class InPlaceRace {
 public:
  static constexpr std::size_t kCandidates = 3;
  static constexpr std::size_t kIncumbent = kCandidates;  // what runs
  static constexpr std::size_t kFirstLook = 3;
  static constexpr std::size_t kSamples = 6;

  // `max_slowdown`: by which share the launches may become slower meanwhile.
  InPlaceRace(const StepOptions& options, double max_slowdown);

  // They are counted from 0. Where one leaves, the last one takes its place.
  std::size_t candidates() const { return candidates_; }
  // `ratio`: as screening found it; 0: unknown.
  void join(double ratio);
  void leave(std::size_t candidate);
  // A launch of the candidate, or of kIncumbent.
  void add(std::size_t racer, Nanoseconds time) { racers_[racer].times.add(time); }
  // Something else runs from now on.
  void restart();

  // RaceTurns: as many launches of each candidate as of what runs, and the others so often that the
  // launches do not become slower than is allowed.
  std::uint32_t turns() const;
  // A candidate that need not be launched again; candidates(): none.
  std::size_t loser();
  // All that are left were launched often enough. While a clock changes some times are of the old
  // one: then typical times contradict the fast ones, and the race goes on until those are gone.
  bool over() const;
  // The fastest candidate, if it wins; candidates(): what runs stays.
  std::size_t winner() const;

  // Of the candidate's time and that of what runs; as screening found it while launches are
  // missing.
  double ratio(std::size_t candidate) const;
  const RecentTimes& times(std::size_t racer) const { return racers_[racer].times; }

 private:
  struct Racer {
    RecentTimes times;
    double screened = 0;
  };
  Nanoseconds time(std::size_t racer) const { return times(racer).lower_quartile(); }
  double median_ratio(std::size_t candidate) const;
  bool hopeless(std::size_t candidate) const;
  bool contradicted(std::size_t faster, std::size_t slower) const;
  bool launched(std::size_t launches) const;

  double max_slowdown_;
  double margin_;
  double screening_factor_;
  double hopeless_factor_;
  std::size_t candidates_ = 0;
  bool incumbent_runs_ = true;  // in the race
  std::array<Racer, kCandidates + 1> racers_;
};

}  // namespace idletune::detail

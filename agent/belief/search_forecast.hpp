// What the searcher's next k proposals are expected to gain.
#pragma once

#include <array>
#include <cstddef>

#include <idletune/span.hpp>

#include "agent/belief/device_posterior.hpp"
#include "agent/belief/relative_performance.hpp"
#include "agent/belief/uniform_draws.hpp"

namespace idletune {

// What the searcher will propose next, as far as it can be told.
struct SearchOutlook {
  const DevicePosterior* beliefs = nullptr;  // not owned; null: uniform draws only
  double random_share = 1;  // uniform draws among the next proposals while the portfolio lasts
  // The entries that come next, best first; empty: those that `beliefs` values most. Not owned.
  Span<const DevicePosterior::Forecast> upcoming{};
};

// The scale t_best of this device, log-normal, where no entry of the portfolio was measured.
struct ScaleGuess {
  double mean_log = 0;
  double spread = 0;
};

struct ForecastInput {
  SearchOutlook outlook;  // beliefs not null
  const UniformDraws* draws = nullptr;
  double current_ns = 0;           // of what runs now
  double margin = 0.03;            // smaller improvements are none
  double first_pick_relative = 0;  // of a first pick that is proposed next; 0: none is
  ScaleGuess scale;                // without regard to entries that were measured
  ScaleGuess unknown_scale;        // under "none of these": by the rank of what runs now alone
  const RelativePerformance* unknown = nullptr;  // q under "none of these"; not null
  Span<const float> levels;                      // of the sources' quantiles
};

// The chance that the best of the next k proposals is faster than now by given factors: a mixture
// over the components of DevicePosterior, each with the upcoming entries one by one and uniform
// draws in between. advance_to(k) only with growing k. About 2 KiB, no allocation.
class SearchForecast {
 public:
  static constexpr std::size_t kThresholds = 16;
  static constexpr std::size_t kMembers = 4;    // the heaviest sources, and "none of these"
  static constexpr std::size_t kUpcoming = 64;  // entries; further ones count as uniform draws

  explicit SearchForecast(const ForecastInput& input);

  void advance_to(double proposals);
  // E[time saved per launch by the best of them], in ns.
  double expected_gain() const;
  // The time saved per launch that is reached with probability 1 - level, in ns.
  double gain_quantile(double level) const;

 private:
  using Row = std::array<double, kThresholds>;
  struct Member {
    double weight = 0;
    std::size_t source = 0;
    bool none = false;
    DevicePosterior::Component belief;
    Row draw{};        // log of the chance that a uniform draw does not beat the threshold
    Row entry{};       // chance that the entry looked at last does
    Row missed{};      // chance that no entry so far did
    Row all_missed{};  // nor any draw
  };
  void choose_members();
  void place(Member& member) const;
  void count_hits();
  void set_draw_chances(Member& member) const;
  void look_at_entry(Member& member, double relative) const;
  void pass_entry(std::size_t index);
  double missed(std::size_t threshold) const;

  ForecastInput input_;
  std::array<Member, kMembers> members_{};
  std::size_t member_count_ = 0;
  std::array<DevicePosterior::Forecast, kUpcoming> upcoming_{};
  std::size_t upcoming_count_ = 0;
  std::size_t passed_ = 0;  // entries, a pending first pick included
  double log_current_ = 0;
  double trust_ = 1;
  Row speed_up_{};  // the thresholds
  Row gain_{};      // in ns per launch, of just reaching them
  Row hits_{};      // uniform draws that beat them
};

}  // namespace idletune

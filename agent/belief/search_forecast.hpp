// What the searcher's next k proposals are expected to gain.
#pragma once

#include <array>
#include <cstddef>

#include <idletune/aims.hpp>
#include <idletune/span.hpp>

#include "agent/belief/device_posterior.hpp"
#include "agent/belief/draw_laws.hpp"
#include "agent/belief/uniform_draws.hpp"

namespace idletune {

// What the searcher will propose next, as far as it can be told.
struct SearchOutlook {
  const DevicePosterior* beliefs = nullptr;  // not owned; null: uniform draws only
  double random_share = 1;  // uniform draws among the next proposals while the portfolio lasts
  // The entries that come next, best first. Not owned.
  Span<const DevicePosterior::Forecast> upcoming{};
};

struct ForecastInput {
  SearchOutlook outlook;
  const UniformDraws* draws = nullptr;  // may be null
  double tried = 0;                     // configurations that were tried here, by whatever reason
  double behind = 0;                    // log of what runs now over the fastest seen; at least 0
  double margin = kAdoptionMargin;      // smaller improvements are none
  bool first_tried = false;             // as if the first of the entries that come next had been
};

// A race with an end: every try, made or to come, has a weight, and the best of all is among those
// to come with their share of the weight. A win counts less the nearer it is to the end, which is
// how far t_best probably lies below the fastest so far. Method: agent/belief/README.md; constants:
// agent/constants.md. About 1.5 KiB, no allocation.
class SearchForecast {
 public:
  static constexpr std::size_t kUpcoming = 64;  // entries; further ones count as uniform draws

  explicit SearchForecast(const ForecastInput& input);

  // E[time saved per launch by the best of the next proposals] / the time of a launch now.
  double gain(double proposals) const;

 private:
  static constexpr std::size_t kPoints = 9;
  // Of one end: the points of the integral over improvements, the first at the margin.
  struct Points {
    std::array<double, kPoints> chance{};  // that a win is worth that much; 0: past the end
    std::array<double, kPoints> width{};   // gain between them
  };
  Points points_to(double end, double weight, double power) const;
  double weight_of_next(double proposals) const;

  ForecastInput input_;
  double none_ = 1;                              // nobody's weights tell anything
  double count_ = 0;                             // tries so far
  double weight_ = 0;                            // of these
  std::size_t entries_ = 0;                      // that come next
  std::array<double, kUpcoming + 1> weights_{};  // of the first so many of them
  std::array<Points, 3> weighed_{};              // by the weights
  std::array<Points, 3> alike_{};                // all tries weigh the same
};

}  // namespace idletune

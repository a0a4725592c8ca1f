#include "agent/host/lab/standards.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "agent/host/lab/compared_searchers.hpp"
#include "agent/host/lab/jobs.hpp"

namespace idletune {

namespace {

constexpr double kShare1 = 0.5, kShare2 = 0.95;
// Beyond random search's own figure another searcher's is looked for up to this factor.
constexpr double kFarthest = 2.0;
constexpr std::uint64_t kStep = 12;      // the next number of samples is larger by one part of this
constexpr std::size_t kFirstLook = 100;  // repeats after which a hopeless number is given up
constexpr double kHopeless = 4.5;        // standard deviations below the share that is wanted

// Smallest n for which the chance of a good one among n draws is at least `share`.
std::uint64_t draws_until(std::uint64_t all, std::uint64_t good, double share) {
  double missed = 1;
  std::uint64_t draws = 0;
  while (draws < all && 1 - missed < share - 1e-12) {
    const double bad_left = static_cast<double>(all - good) - static_cast<double>(draws);
    missed *= std::max(0.0, bad_left) / static_cast<double>(all - draws);
    ++draws;
  }
  return draws;
}

struct Series {
  std::vector<std::uint64_t> evaluations;  // of searches that got there
  std::size_t searches = 0;
};

class Player {
 public:
  Player(const Simulation& target, const StandardsOptions& options,
         const std::function<bool()>& go_on)
      : target_(target), options_(options), go_on_(go_on) {}

  // Seeds first ... last - 1, added to `series`; fewer where it is not to go on.
  Status play(const std::string& searcher, std::uint64_t max_evaluations, std::size_t first,
              std::size_t last, Series& series) const {
    SimulationOptions simulation;
    simulation.until = options_.until;
    simulation.max_evaluations = max_evaluations;
    struct Played {
      bool whole = false, reached = false;
      std::uint64_t evaluations = 0;
    };
    std::vector<Played> searches(last - first);
    Jobs jobs(first, last, kJobThreads, [&](std::size_t i) {
      if (!go_on_()) return Status();
      const auto search = target_.run(searcher, nullptr, options_.seed + i, simulation);
      if (search.ok()) searches[i - first] = {true, search->reached, search->evaluations};
      return search.status();
    });
    if (Status status = jobs.wait(); !status.ok()) return status;
    for (const Played& search : searches) {
      series.searches += search.whole ? 1 : 0;
      if (search.reached) series.evaluations.push_back(search.evaluations);
    }
    return {};
  }

  // Whether the share of searches that got there is at least `share`.
  Result<bool> reaches(const std::string& searcher, std::uint64_t samples, double share) const {
    Series series;
    const std::size_t look = std::min(kFirstLook, options_.repeats);
    if (Status s = play(searcher, samples, 0, look, series); !s.ok()) return s;
    const double deviation = std::sqrt(share * (1 - share) / static_cast<double>(look));
    if (!go_on_() || reached(series) < share - kHopeless * deviation) return false;
    if (Status s = play(searcher, samples, look, options_.repeats, series); !s.ok()) return s;
    return go_on_() && reached(series) >= share;
  }

 private:
  static double reached(const Series& series) {
    return static_cast<double>(series.evaluations.size()) / static_cast<double>(series.searches);
  }
  const Simulation& target_;
  const StandardsOptions& options_;
  const std::function<bool()>& go_on_;
};

std::optional<std::uint64_t> quantile(Series& series, double share) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(series.searches) - 1e-9));
  if (rank == 0 || rank > series.evaluations.size()) return std::nullopt;
  std::sort(series.evaluations.begin(), series.evaluations.end());
  return series.evaluations[rank - 1];
}

// The name with `samples` divided among the picks.
std::string sharing(const IterMlOptions& iterml, std::size_t iterations, std::uint64_t samples,
                    std::uint64_t all) {
  const std::uint64_t pick = samples / iterations;
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, ":pick=%.12g:cut=%.12g:iterations=%zu",
                static_cast<double>(pick) / static_cast<double>(all), iterml.cut_ratio, iterations);
  return "iterml:" + iterml.learner + numbers + (iterml.all_samples ? ":samples=all" : "");
}

Result<Standards> standards_of_iterml(const Simulation& target, const IterMlOptions& iterml,
                                      const StandardsOptions& options,
                                      const std::function<bool()>& go_on) {
  const Player player(target, options, go_on);
  const Standards random = standards_of_random(target, options.until);
  const std::uint64_t all = target.space().valid_count();
  const std::size_t iterations = iterml.iterations > 0 ? iterml.iterations : options.iterations;
  Standards result;
  std::uint64_t samples = iterations;
  for (const bool second : {false, true}) {
    const double base = static_cast<double>(second ? *random.standard2 : *random.standard1);
    const auto most = std::min(all, static_cast<std::uint64_t>(kFarthest * base) + iterations);
    while (samples <= most && go_on()) {
      const auto good = player.reaches(sharing(iterml, iterations, samples, all), samples,
                                       second ? kShare2 : kShare1);
      if (!good.ok()) return good.status();
      if (*good) {
        (second ? result.standard2 : result.standard1) = samples;
        break;
      }
      // Whole picks only: the others differ in nothing.
      const std::uint64_t step = std::max<std::uint64_t>(iterations, samples / kStep);
      samples += (step + iterations - 1) / iterations * iterations;
    }
  }
  return result;
}

}  // namespace

Standards standards_of_random(const Simulation& target, double until) {
  const std::uint64_t all = target.history().valid_rows().size();
  std::uint64_t good = 0;
  for (std::size_t row = 0; row < target.history().rows(); ++row) {
    good += target.relative_performance(row) >= until ? 1 : 0;
  }
  Standards standards;
  standards.standard1 = draws_until(all, good, kShare1);
  standards.standard2 = draws_until(all, good, kShare2);
  return standards;
}

Result<Standards> standards_of(const Simulation& target, std::string_view searcher,
                               const StandardsOptions& options,
                               const std::function<bool()>& go_on) {
  if (options.repeats == 0)
    return Status(StatusCode::invalid_argument, "standards: expected at least one repeat");
  if (searcher == "random") return standards_of_random(target, options.until);
  const auto iterml = iterml_options(searcher);
  if (iterml.ok()) return standards_of_iterml(target, *iterml, options, go_on);
  const Player player(target, options, go_on);
  const Standards random = standards_of_random(target, options.until);
  const auto most =
      static_cast<std::uint64_t>(kFarthest * static_cast<double>(*random.standard2)) + 1;
  Series series;
  Status played = player.play(std::string(searcher), most, 0, options.repeats, series);
  if (!played.ok()) return played;
  return Standards{quantile(series, kShare1), quantile(series, kShare2)};
}

}  // namespace idletune

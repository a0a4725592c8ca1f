#include "agent/host/lab/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/host/lab/jobs.hpp"

namespace idletune {

namespace {

constexpr std::size_t kCurvePoints = 200;
// Sums of many changes end this close to their true value, relative to it.
constexpr double kRounding = 1e-9;

// One search: when its best run time so far changed.
struct Improvement {
  std::uint64_t step = 0;
  double best_ns = 0;
};
struct Search {
  std::vector<Improvement> improvements;
  std::uint64_t steps = 0;  // made
};

struct Bounds {
  double best_of_space = 0;
  double best_ns = 0;
  double worst_ns = 0;
};

Bounds bounds_of(const History& searched, const History& full) {
  Bounds bounds{searched.best_time_ns(), full.best_time_ns()};
  for (std::size_t row = 0; row < full.rows(); ++row) {
    if (full.correct(row)) bounds.worst_ns = std::max(bounds.worst_ns, full.run_time_ns(row));
  }
  return bounds;
}

Result<Search> search_once(const Simulation& target, std::string_view name, std::uint64_t seed,
                           const Bounds& bounds) {
  auto searcher = target.searcher(name, nullptr, seed);
  if (!searcher.ok()) return searcher.status();
  Search search;
  double best_ns = bounds.worst_ns;
  while (const std::optional<Proposal> proposal = (*searcher)->ask()) {
    const std::optional<std::uint64_t> number = target.space().index_of(proposal->configuration);
    if (!number)
      return Status(StatusCode::internal, "the searcher proposed what is not in the space");
    const std::size_t row = static_cast<std::size_t>(*number);
    ++search.steps;
    if (target.history().correct(row) && target.history().run_time_ns(row) <= best_ns) {
      best_ns = target.history().run_time_ns(row);
      search.improvements.push_back({search.steps, best_ns});
      if (best_ns <= bounds.best_of_space) break;
    }
    (*searcher)->tell(proposal->configuration, target.observation(row));
  }
  return search;
}

// All searches, some at a time; in the order of their seeds.
Result<std::vector<Search>> search_all(const Simulation& target, std::string_view name,
                                       const ConvergenceOptions& options, const Bounds& bounds) {
  std::vector<Search> searches(options.repeats);
  Jobs jobs(0, searches.size(), kJobThreads, [&](std::size_t i) {
    Result<Search> search = search_once(target, name, options.seed + i, bounds);
    if (search.ok()) searches[i] = std::move(*search);
    return search.status();
  });
  if (Status status = jobs.wait(); !status.ok()) return status;
  return searches;
}

// Element s: the mean over the searches of the best run time after step s.
std::vector<double> mean_curve(const std::vector<Search>& searches, double worst_ns) {
  std::uint64_t longest = 0;
  for (const Search& search : searches) longest = std::max(longest, search.steps);
  std::vector<double> change(static_cast<std::size_t>(longest) + 1, 0.0);
  for (const Search& search : searches) {
    double before = worst_ns;
    for (const Improvement& improvement : search.improvements) {
      change[static_cast<std::size_t>(improvement.step)] += improvement.best_ns - before;
      before = improvement.best_ns;
    }
  }
  double mean = worst_ns;
  for (double& value : change) mean = value = mean + value / static_cast<double>(searches.size());
  return change;
}

std::vector<Convergence::Point> thin(const std::vector<double>& curve) {
  std::vector<Convergence::Point> points;
  const double ratio =
      std::pow(static_cast<double>(curve.size()), 1.0 / static_cast<double>(kCurvePoints));
  double wanted = 1;
  for (std::size_t step = 1; step < curve.size(); ++step) {
    if (static_cast<double>(step) < wanted && step + 1 < curve.size()) continue;
    points.push_back({step, curve[step], 0, 0});
    while (wanted <= static_cast<double>(step)) wanted *= ratio;
  }
  return points;
}

// Adds to each point what a tenth and nine tenths of the searches had found by then.
void add_spread(const std::vector<Search>& searches, double worst_ns,
                std::vector<Convergence::Point>& points) {
  std::vector<std::size_t> next(searches.size(), 0);
  std::vector<double> best(searches.size(), worst_ns);
  for (Convergence::Point& point : points) {
    for (std::size_t i = 0; i < searches.size(); ++i) {
      const std::vector<Improvement>& improvements = searches[i].improvements;
      for (; next[i] < improvements.size() && improvements[next[i]].step <= point.step; ++next[i]) {
        best[i] = improvements[next[i]].best_ns;
      }
    }
    std::vector<double> sorted = best;
    std::sort(sorted.begin(), sorted.end());
    point.fast_best_ns = sorted[sorted.size() / 10];
    point.slow_best_ns = sorted[sorted.size() - 1 - sorted.size() / 10];
  }
}

}  // namespace

Result<Convergence> converge(const Simulation& target, std::string_view searcher,
                             const ConvergenceOptions& options) {
  if (options.repeats == 0)
    return Status(StatusCode::invalid_argument, "converge: expected at least one repeat");
  const Bounds bounds =
      bounds_of(target.history(), options.full ? *options.full : target.history());
  const Result<std::vector<Search>> searches = search_all(target, searcher, options, bounds);
  if (!searches.ok()) return searches.status();
  Convergence result;
  std::vector<double> steps;
  for (const Search& search : *searches) {
    for (const Improvement& improvement : search.improvements) {
      if (bounds.best_ns / improvement.best_ns < options.until) continue;
      steps.push_back(static_cast<double>(improvement.step));
      break;
    }
  }
  result.reached = static_cast<double>(steps.size()) / static_cast<double>(options.repeats);
  steps.resize(options.repeats, INFINITY);
  const double median = summarize(steps).median;
  if (std::isfinite(median)) result.median_steps = median;
  const std::vector<double> curve = mean_curve(*searches, bounds.worst_ns);
  const double limit_ns = bounds.best_ns / options.until * (1 + kRounding);
  const auto first =
      std::find_if(curve.begin(), curve.end(), [&](double mean) { return mean <= limit_ns; });
  if (first != curve.end()) {
    result.steps_of_mean =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(first - curve.begin()));
  }
  result.curve = thin(curve);
  add_spread(*searches, bounds.worst_ns, result.curve);
  return result;
}

}  // namespace idletune

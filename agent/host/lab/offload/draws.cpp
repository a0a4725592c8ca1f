#include "agent/host/lab/offload/draws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "models/core/random.hpp"

namespace idletune::offload {

namespace {

double published_error(const Sample& sample, double log_speedup) {
  const double predicted_ms = sample.cpu_ms * std::exp(-log_speedup);
  return std::abs(1 - sample.best_gpu_ms() / predicted_ms);
}

// One sample each of as many groups, drawn.
std::vector<std::size_t> draw_tests(const std::map<std::string, std::vector<std::size_t>>& groups,
                                    std::size_t tests, std::uint64_t seed) {
  std::vector<const std::vector<std::size_t>*> all;
  all.reserve(groups.size());
  for (const auto& [name, members] : groups) all.push_back(&members);
  const Permutation order(all.size(), seed);
  std::vector<std::size_t> drawn;
  for (std::size_t i = 0; i < tests; ++i) {
    const auto& members = *all[static_cast<std::size_t>(order(i))];
    const Permutation within(members.size(), seed + i);
    drawn.push_back(members[static_cast<std::size_t>(within(0))]);
  }
  return drawn;
}

}  // namespace

Result<DrawResult> evaluate_draws(const SampleSet& set, const DrawOptions& options,
                                  const std::function<bool(std::size_t, std::size_t)>& progress) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < set.samples.size(); ++i) {
    if (options.derived || set.samples[i].groups.suite != "derived")
      groups[group_of(set.samples[i], options.group)].push_back(i);
  }
  if (groups.size() <= options.tests) {
    return Status(StatusCode::invalid_argument,
                  std::to_string(groups.size()) + " groups are too few to draw " +
                      std::to_string(options.tests) + " tests of different ones");
  }
  DrawResult result;
  for (const double inclusion : options.inclusions)
    result.errors.push_back({inclusion, 0, std::numeric_limits<double>::infinity(), 0});
  std::size_t done = 0;
  while (done < options.draws) {
    const auto tests = draw_tests(groups, options.tests, options.learner.seed + done);
    std::set<std::string> out;
    for (const std::size_t test : tests) out.insert(group_of(set.samples[test], options.group));
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < set.samples.size(); ++i) {
      if (out.count(group_of(set.samples[i], options.group)) == 0) rows.push_back(i);
    }
    auto learner = make_speedup_learner(options.learner);
    if (!learner.ok()) return learner.status();
    if (Status status = (*learner)->fit(set, rows); !status.ok()) return status;
    for (std::size_t k = 0; k < options.inclusions.size(); ++k) {
      DrawErrors& errors = result.errors[k];
      (*learner)->set_inclusion(errors.inclusion);
      double mean = 0;
      for (const std::size_t test : tests) {
        const double speedup = (*learner)->log_speedup(set.samples[test]);
        mean += published_error(set.samples[test], speedup) / static_cast<double>(tests.size());
        if (k == 0) result.tests.push_back({test, speedup});
      }
      errors.mean += mean;
      errors.least = std::min(errors.least, mean);
      errors.worst = std::max(errors.worst, mean);
    }
    ++done;
    if (progress && !progress(done, options.draws)) break;
  }
  for (DrawErrors& errors : result.errors)
    errors.mean /= static_cast<double>(std::max<std::size_t>(1, done));
  return result;
}

}  // namespace idletune::offload

#include "agent/host/lab/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/host/lab/compared_searchers.hpp"
#include "agent/tuning/shape_search.hpp"
#include "models/core/median.hpp"

namespace idletune {

Simulation::Simulation(const History& history, Space space)
    : history_(&history), space_(std::move(space)), best_ns_(history.best_time_ns()) {}

Result<Simulation> Simulation::of(const History& history) {
  Result<Space> space = space_of(history);
  if (!space.ok()) return space.status();
  if (history.count(TrialStatus::correct) == 0) {
    return Status(
        StatusCode::invalid_argument,
        "history of " + history.kernel + " on " + history.device + ": nothing in it ran correctly");
  }
  return Simulation(history, std::move(*space));
}

double Simulation::cost_ms(std::size_t row) const {
  double ns = std::isfinite(history_->compile_time[row]) ? history_->compile_time_ns(row) : 0;
  if (history_->correct(row)) ns += 2 * history_->run_time_ns(row);
  return ns / 1e6;
}

double Simulation::relative_performance(std::size_t row) const {
  return history_->correct(row) ? best_ns_ / history_->run_time_ns(row) : 0;
}

Observation Simulation::observation(std::size_t row) const {
  Observation seen;
  seen.status = history_->status[row];
  // Device clocks tick in nanoseconds: never less than one.
  if (history_->correct(row)) {
    seen.run_time =
        Nanoseconds(std::max<std::int64_t>(1, std::llround(history_->run_time_ns(row))));
  }
  if (std::isfinite(history_->compile_time[row])) {
    seen.compile_time = Nanoseconds(std::llround(history_->compile_time_ns(row)));
  }
  return seen;
}

Result<std::unique_ptr<Searcher>> Simulation::searcher(std::string_view name,
                                                       const KernelKnowledge* kernel,
                                                       std::uint64_t seed) const {
  SearcherOptions options;
  options.seed = seed;
  options.shape = history_->shape;
  options.device = history_->device;
  auto made = make_compared_searcher(name, space_, kernel, options);
  for (std::size_t row = 0; made.ok() && row < history_->rows(); ++row) {
    if (history_->status[row] == TrialStatus::constraints) (*made)->exclude(space_.at(row));
  }
  return made;
}

Result<SimulatedSearch> Simulation::run(std::string_view searcher_name,
                                        const KernelKnowledge* kernel, std::uint64_t seed,
                                        const SimulationOptions& options) const {
  auto made = searcher(searcher_name, kernel, seed);
  if (!made.ok()) return made.status();
  SearchSubject subject;
  subject.space = &space_;
  subject.has_baseline = false;
  subject.shape = history_->shape;
  subject.device = history_->device;
  subject.seed = seed;
  ShapeSearch search(std::move(subject), std::move(*made));
  const auto all = [](const Configuration&) { return Admission::admitted; };
  SimulatedSearch result;
  while (options.max_evaluations == 0 || result.evaluations < options.max_evaluations) {
    const std::optional<Proposal> proposal = search.next(all);
    if (!proposal) break;
    const std::optional<std::uint64_t> number = space_.index_of(proposal->configuration);
    if (!number)
      return Status(StatusCode::internal, "the searcher proposed what is not in the space");
    const std::size_t row = static_cast<std::size_t>(*number);
    const double relative = relative_performance(row);
    if (++result.evaluations == 1) result.first_relative = relative;
    result.tuning_ms += cost_ms(row);
    if (relative > (result.improvements.empty() ? 0 : result.improvements.back().relative))
      result.improvements.push_back({result.evaluations, result.tuning_ms, relative});
    if (relative >= options.until) {
      result.reached = true;
      break;
    }
    const Observation seen = observation(row);
    StepResult step;
    step.proposal = *proposal;
    step.status = seen.status;
    step.time = seen.run_time;
    step.compile = seen.compile_time;
    search.step_ended(step);
  }
  return result;
}

Summary summarize(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  Summary summary;
  summary.median = median_of_ascending(values);
  summary.p90 = values[(9 * n + 9) / 10 - 1];
  summary.max = values.back();
  return summary;
}

}  // namespace idletune

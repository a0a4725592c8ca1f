#include "agent/cli/steps_prediction_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "agent/lab/simulation.hpp"
#include "models/insight/device_spaces.hpp"
#include "models/insight/fractions.hpp"
#include "models/insight/steps.hpp"
#include "models/insight/steps_prediction.hpp"

namespace idletune::cli {

namespace {

// Predictions are of the median.
constexpr double kProbability = 0.5;

struct Target {
  const DeviceSpace* entry = nullptr;
  SpaceOnDevice counts;
  double needed = 0;  // median of the replays
};

Result<double> median_needed(const History& history, const PredictionOptions& options) {
  const auto simulation = Simulation::of(history);
  if (!simulation.ok()) return simulation.status();
  SimulationOptions until;
  until.until = options.threshold;
  std::vector<double> evaluations;
  for (std::size_t i = 0; i < options.repeats; ++i) {
    const auto search = simulation->run("random", nullptr, options.seed + i, until);
    if (!search.ok()) return search.status();
    evaluations.push_back(static_cast<double>(search->evaluations));
  }
  return summarize(std::move(evaluations)).median;
}

double doublings_off(double predicted, double needed) { return std::log2(predicted / needed); }

bool within_factor_two(double predicted, double needed) {
  return predicted <= 2 * needed && needed <= 2 * predicted;
}

nlohmann::json to_json(const StepsPrediction& prediction, double needed) {
  const double steps = static_cast<double>(prediction.steps);
  nlohmann::json result = {{"fraction", prediction.fraction},
                           {"steps", prediction.steps},
                           {"ratio", steps / needed},
                           {"within_factor_two", within_factor_two(steps, needed)}};
  if (prediction.most > 0) result["interval"] = {prediction.fewest, prediction.most};
  return result;
}

// Of the targets of one space, the most that a single number can be within a factor of two of.
std::size_t most_for_one_number(const std::vector<double>& needed) {
  std::size_t most = 0;
  for (const double smallest : needed) {
    most = std::max(
        most, static_cast<std::size_t>(std::count_if(needed.begin(), needed.end(), [&](double n) {
          return n >= smallest && n <= 4 * smallest;
        })));
  }
  return most;
}

struct Score {
  std::size_t within = 0;
  double doublings = 0;

  void add(double predicted, double needed) {
    within += within_factor_two(predicted, needed) ? 1 : 0;
    doublings += std::abs(doublings_off(predicted, needed));
  }
  nlohmann::json over(std::size_t targets) const {
    const double n = static_cast<double>(targets);
    return {{"within_factor_two", static_cast<double>(within) / n},
            {"mean_doublings_off", doublings / n}};
  }
};

nlohmann::json summary_of(const nlohmann::json& predictions, const std::vector<Target>& targets) {
  Score paper;
  Score ours;
  std::size_t covered = 0;
  for (const auto& p : predictions) {
    const double needed = p["needed"];
    paper.add(p["paper"]["steps"], needed);
    ours.add(p["ours"]["steps"], needed);
    const auto& interval = p["ours"]["interval"];
    covered += interval[0].get<double>() <= needed && needed <= interval[1].get<double>() ? 1 : 0;
  }
  const std::size_t count = predictions.size();
  if (count == 0) return {{"targets", 0}};
  std::map<std::size_t, std::vector<double>> by_space;
  for (const Target& target : targets) by_space[target.entry->space].push_back(target.needed);
  std::size_t reachable = 0;
  for (const auto& [space, needed] : by_space) {
    if (needed.size() > 1) reachable += most_for_one_number(needed);
  }
  return {{"targets", count},
          {"paper", paper.over(count)},
          {"ours", ours.over(count)},
          {"interval_coverage", static_cast<double>(covered) / static_cast<double>(count)},
          {"one_number_per_space", static_cast<double>(reachable) / static_cast<double>(count)}};
}

Result<std::vector<Target>> targets_of(const std::vector<DeviceSpace>& entries,
                                       const PredictionOptions& options) {
  std::vector<Target> targets;
  for (const DeviceSpace& entry : entries) {
    Target target;
    target.entry = &entry;
    const PerformanceDistribution distribution = distribution_of(entry.history);
    target.counts = {entry.history.device, distribution.valid,
                     distribution.count_at_least(options.threshold)};
    if (target.counts.well_performing == 0) continue;  // nothing ran
    const auto needed = median_needed(entry.history, options);
    if (!needed.ok()) return needed.status();
    target.needed = *needed;
    targets.push_back(target);
  }
  return targets;
}

std::string number(double value, int digits) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

Result<nlohmann::json> steps_predictions(const std::vector<History>& histories,
                                         const PredictionOptions& options) {
  std::vector<const History*> pointers;
  pointers.reserve(histories.size());
  for (const History& history : histories) pointers.push_back(&history);
  const std::vector<DeviceSpace> entries = device_spaces(pointers);
  const auto targets = targets_of(entries, options);
  if (!targets.ok()) return targets.status();
  nlohmann::json predictions = nlohmann::json::array();
  nlohmann::json alone = nlohmann::json::array();
  for (const Target& target : *targets) {
    std::vector<SpaceOnDevice> others;
    for (const Target& other : *targets) {
      if (&other != &target && other.entry->space == target.entry->space)
        others.push_back(other.counts);
    }
    const auto paper = predict_steps_by_mean(others, kProbability);
    const auto ours = predict_steps_by_kinship(target.counts.device, target.counts.configurations,
                                               others, kProbability);
    const History& history = target.entry->history;
    if (!paper || !ours) {
      alone.push_back({{"kernel", history.kernel}, {"device", history.device}});
      continue;
    }
    const auto exact = random_search_steps_without_repetition(
        target.counts.configurations, target.counts.well_performing, kProbability);
    predictions.push_back({{"kernel", history.kernel},
                           {"space", target.entry->space},
                           {"device", history.device},
                           {"histories", target.entry->histories.size()},
                           {"others", others.size()},
                           {"configurations", target.counts.configurations},
                           {"well_performing", target.counts.well_performing},
                           {"needed", target.needed},
                           {"needed_exactly", exact.value_or(0)},
                           {"paper", to_json(*paper, target.needed)},
                           {"ours", to_json(*ours, target.needed)}});
  }
  return nlohmann::json{
      {"predictions", predictions},     {"alone", alone},
      {"threshold", options.threshold}, {"repeats", options.repeats},
      {"seed", options.seed},           {"summary", summary_of(predictions, *targets)}};
}

void print_steps_predictions(const nlohmann::json& report, const CliContext& context) {
  TextTable table({{"kernel"},
                   {"device"},
                   {"space", Align::right},
                   {"good", Align::right},
                   {"needed", Align::right},
                   {"published rule", Align::right},
                   {"ours", Align::right},
                   {"likely", Align::right}});
  const auto marked = [](const nlohmann::json& p) {
    return p["steps"].dump() + (p["within_factor_two"] ? "  " : " !");
  };
  for (const auto& p : report["predictions"]) {
    const auto& interval = p["ours"]["interval"];
    table.add_row({p["kernel"], p["device"], p["configurations"].dump(),
                   p["well_performing"].dump(), number(p["needed"], 1), marked(p["paper"]),
                   marked(p["ours"]), interval[0].dump() + " to " + interval[1].dump()});
  }
  context.print(table);
  for (const auto& one : report["alone"]) {
    context.warn(one["kernel"].get<std::string>() + " on " + one["device"].get<std::string>() +
                 ": no other device to predict from");
  }
  const auto& s = report["summary"];
  if (s["targets"] == 0) return;
  const auto score = [](const nlohmann::json& one) {
    return number(100 * one["within_factor_two"].get<double>(), 0) + " % (" +
           number(one["mean_doublings_off"], 2) + " doublings off on average)";
  };
  context.print(
      "Median steps of random search to " + number(100 * report["threshold"].get<double>(), 0) +
      " % of the best, " + report["repeats"].dump() + " replays from seed " +
      report["seed"].dump() + ". Within a factor of two: published rule " + score(s["paper"]) +
      ", ours " + score(s["ours"]) + "; one number per space at best " +
      number(100 * s["one_number_per_space"].get<double>(), 0) + " %. Inside the likely range: " +
      number(100 * s["interval_coverage"].get<double>(), 0) + " %. ! marks what is further off.");
}

}  // namespace

void report_steps_predictions(const std::vector<History>& histories,
                              const PredictionOptions& options, CliContext& context) {
  const auto report = steps_predictions(histories, options);
  if (!report.ok()) return context.fail(report.status());
  if (context.json()) return context.print_json(*report);
  print_steps_predictions(*report, context);
}

}  // namespace idletune::cli

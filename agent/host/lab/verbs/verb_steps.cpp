// idletune lab steps H...: the steps that random search needs, predicted from other devices.

#include <idletune/aims.hpp>

#include "agent/host/cli/histories.hpp"
#include "agent/host/lab/simulation.hpp"
#include "agent/host/lab/steps/device_spaces.hpp"
#include "agent/host/lab/steps/steps_prediction.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/report/numbers.hpp"
#include "models/host/insight/fractions.hpp"
#include "models/host/insight/steps.hpp"

namespace idletune::cli {

namespace {

// Predictions are of the median.
constexpr double kProbability = 0.5;

struct PredictionOptions {
  std::vector<std::string> histories;
  double threshold = kWellPerforming;  // relative performance that counts as well-performing
  std::size_t repeats = 1000;          // replays of random search per device
  std::uint64_t seed = 1;              // of the first
};

struct PredictedDevice {
  const DeviceSpace* entry = nullptr;
  SpaceOnDevice counts;
  double needed = 0;  // median of the replays
};

Result<double> median_needed(const History& history, const PredictionOptions& options) {
  const auto simulation = must(Simulation::of(history));
  SimulationOptions until;
  until.until = options.threshold;
  std::vector<double> evaluations;
  for (std::size_t i = 0; i < options.repeats; ++i) {
    const auto search = must(simulation.run("random", nullptr, options.seed + i, until));
    evaluations.push_back(static_cast<double>(search.evaluations));
  }
  return summarize(std::move(evaluations)).median;
}

bool within_factor_two(double predicted, double needed) {
  return predicted <= 2 * needed && needed <= 2 * predicted;
}

json to_json(const StepsPrediction& prediction, double needed) {
  const double steps = static_cast<double>(prediction.steps);
  json result = {{"fraction", prediction.fraction},
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
    doublings += std::abs(std::log2(predicted / needed));
  }
  json over(std::size_t targets) const {
    const double n = static_cast<double>(targets);
    return {{"within_factor_two", static_cast<double>(within) / n},
            {"mean_doublings_off", doublings / n}};
  }
};

json summary_of(const json& predictions, const std::vector<PredictedDevice>& targets) {
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
  for (const PredictedDevice& target : targets)
    by_space[target.entry->space].push_back(target.needed);
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

json steps_predictions(const std::vector<PredictedDevice>& targets,
                       const PredictionOptions& options) {
  json predictions = json::array();
  json alone = json::array();
  for (const PredictedDevice& target : targets) {
    std::vector<SpaceOnDevice> others;
    for (const PredictedDevice& other : targets) {
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
  return json{{"predictions", predictions},     {"alone", alone},
              {"threshold", options.threshold}, {"repeats", options.repeats},
              {"seed", options.seed},           {"summary", summary_of(predictions, targets)}};
}

void print_steps_predictions(const json& answer, const CliContext& context) {
  TextTable table(
      {"kernel", "device", ">space", ">good", ">needed", ">published rule", ">ours", ">likely"});
  const auto count = [](const json& n) { return report::mean_count_text(n.get<double>()); };
  const auto marked = [](const json& p) {
    return report::count_text(p["steps"].get<std::uint64_t>()) +
           (p["within_factor_two"] ? "  " : " !");
  };
  for (const auto& p : answer["predictions"]) {
    const auto& interval = p["ours"]["interval"];
    table.add_row({p["kernel"], p["device"], count(p["configurations"]),
                   count(p["well_performing"]), count(p["needed"]), marked(p["paper"]),
                   marked(p["ours"]), count(interval[0]) + " to " + count(interval[1])});
  }
  context.print(table);
  for (const auto& one : answer["alone"]) {
    context.warn(one["kernel"].get<std::string>() + " on " + one["device"].get<std::string>(),
                 "no other device to predict from");
  }
  const auto& s = answer["summary"];
  if (s["targets"] == 0) return;
  const auto score = [](const json& one) {
    return report::percent_text(one["within_factor_two"]) + " (" +
           report::significant(one["mean_doublings_off"]) + " doublings off on average)";
  };
  context.print_paragraph(
      "Median steps of random search to " + report::percent_text(answer["threshold"]) +
      " of the best, " + count(answer["repeats"]) + " replays from seed " + answer["seed"].dump() +
      ". Within a factor of two: published rule " + score(s["paper"]) + ", ours " +
      score(s["ours"]) + "; one number per space at best " +
      report::percent_text(s["one_number_per_space"]) + ". Inside the likely range: " +
      report::percent_text(s["interval_coverage"]) + ". ! marks what is further off.");
}

// For every device and tuning space: the median steps of the replays, and what the other devices of
// the same space predict; as JSON {predictions[], summary{}}, with devices whose space no other has
// in `alone[]`.
void run_steps(const PredictionOptions& options, CliContext& context) {
  const auto histories = must(load_histories(options.histories));
  // What is kept of a part outlives this function.
  const auto entries =
      std::make_shared<const std::vector<DeviceSpace>>(device_spaces(pointers_to(histories)));
  std::vector<PredictedDevice> targets;
  const auto answer = [entries, options, &context](const std::vector<PredictedDevice>& of,
                                                   bool complete) {
    json report = steps_predictions(of, options);
    report["complete"] = complete;
    if (context.json()) return context.print_json(report);
    print_steps_predictions(report, context);
  };
  for (const DeviceSpace& entry : *entries) {
    PredictedDevice target;
    target.entry = &entry;
    const PerformanceDistribution distribution = distribution_of(entry.history);
    target.counts = {entry.history.device, distribution.valid,
                     distribution.count_at_least(options.threshold)};
    if (target.counts.well_performing == 0) continue;  // nothing ran
    context.keep_part([answer, targets] { answer(targets, false); });
    target.needed = must(median_needed(entry.history, options));
    targets.push_back(target);
  }
  answer(targets, true);
}

}  // namespace

void add_lab_steps_verb(Verb& lab, CliContext& context) {
  auto options = std::make_shared<PredictionOptions>();
  Verb verb = lab.add_verb("steps",
                           "predicts each device's steps of random search from the other devices, "
                           "and replays it to compare");
  verb.required("histories", options->histories, "Histories (.ithistory, or what import reads)");
  add_threshold(verb, options->threshold);
  verb.option("--repeat", options->repeats, "Replays per device").between(1, 1000000);
  verb.option("--seed", options->seed, "Seed of the first replay");
  verb.example("lab steps histories --threshold 0.95");
  verb.runs([options, &context] { run_steps(*options, context); });
}

}  // namespace idletune::cli

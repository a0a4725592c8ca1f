// idletune fractions H...: well-performing fractions and the steps that random search needs.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "agent/cli/fractions_table.hpp"
#include "agent/cli/histories.hpp"
#include "agent/cli/lab.hpp"
#include "agent/cli/steps_prediction_report.hpp"
#include "agent/cli/verbs.hpp"
#include "models/insight/fractions.hpp"
#include "models/insight/published_fractions.hpp"
#include "models/insight/steps.hpp"

namespace idletune::cli {

namespace {

struct FractionsArguments {
  std::vector<std::string> histories;
  double threshold = 0.9;
  double probability = 0.95;
  bool published = false;
  bool table = false;
  bool predict = false;
  PredictionOptions prediction;
};

std::string percent(double share) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3f %%", 100 * share);
  return buffer;
}

nlohmann::json or_null(const std::optional<std::uint64_t>& steps) {
  return steps ? nlohmann::json(*steps) : nlohmann::json(nullptr);
}

nlohmann::json time_or_null(double ns) {
  return ns > 0 ? nlohmann::json(ns) : nlohmann::json(nullptr);
}

std::string or_never(const nlohmann::json& steps) {
  return steps.is_null() ? "never" : std::to_string(steps.get<std::uint64_t>());
}

nlohmann::json result_of(const History& history, std::uint64_t dropped,
                         const FractionsArguments& arguments) {
  const PerformanceDistribution d = distribution_of(history, dropped);
  const double fraction = d.fraction(arguments.threshold);
  const auto interval = d.interval(arguments.threshold);
  const std::uint64_t good =
      d.is_sample() ? static_cast<std::uint64_t>(fraction * static_cast<double>(d.space))
                    : d.count_at_least(arguments.threshold);
  nlohmann::json warnings = nlohmann::json::array();
  if (dropped > 0) {
    warnings.push_back(std::to_string(dropped) +
                       " configurations that other devices have are missing: counted as failed");
  }
  if (d.is_sample()) {
    warnings.push_back(
        "a sample of " + std::to_string(d.valid) + " of " + std::to_string(d.space) +
        " configurations: the fraction is relative to the best one seen, thus too high; at most " +
        percent(d.better_share_bound()) + " of the space are better than that one (95 % sure)");
  }
  return {{"kernel", history.kernel},
          {"device", history.device},
          {"valid", d.space},
          {"measured", d.measured},
          {"threshold", arguments.threshold},
          {"probability", arguments.probability},
          {"fraction", fraction},
          {"interval", {interval[0], interval[1]}},
          {"sample", d.is_sample()},
          {"better_than_seen_at_most", d.better_share_bound()},
          {"best_ns", time_or_null(d.best_ns)},
          {"median_ns", time_or_null(d.median_run_ns)},
          {"default_ns", time_or_null(default_time_ns(history))},
          {"steps", or_null(random_search_steps(fraction, arguments.probability))},
          {"steps_without_repetition",
           or_null(random_search_steps_without_repetition(d.space, good, arguments.probability))},
          {"warnings", warnings}};
}

const char* processor_name(Processor processor) {
  return processor == Processor::gpu ? "gpu" : "cpu";
}

nlohmann::json published_results(const FractionsArguments& arguments) {
  nlohmann::json results = nlohmann::json::array();
  for (const PublishedFraction& cell : published_fractions()) {
    results.push_back(
        {{"kernel", cell.benchmark},
         {"device", cell.device},
         {"processor", processor_name(cell.processor)},
         {"threshold", kPublishedThreshold},
         {"probability", arguments.probability},
         {"fraction", cell.fraction},
         {"steps", or_null(random_search_steps(cell.fraction, arguments.probability))}});
  }
  return results;
}

void print_published(const FractionsArguments& arguments, CliContext& context) {
  const nlohmann::json results = published_results(arguments);
  const std::string source =
      "Olha, Hozzova, Fousek, Filipovic: Exploiting historical data: pruning autotuning spaces and "
      "estimating the "
      "number of tuning steps. Concurrency and Computation: Practice and Experience 32 (21), 2020, "
      "doi:10.1002/cpe.5962, tables 4 and 5";
  if (context.json()) return context.print_json({{"results", results}, {"source", source}});
  TextTable table({{"kernel"}, {"device"}, {"fraction", Align::right}, {"steps", Align::right}});
  for (const auto& r : results) {
    table.add_row({r["kernel"], r["device"], percent(r["fraction"]), or_never(r["steps"])});
  }
  context.print(table);
  context.print("Share of KTT's spaces within 90 % of the best. From " + source + ".");
}

void run_fractions(const FractionsArguments& arguments, CliContext& context) {
  if (arguments.published) return print_published(arguments, context);
  if (arguments.histories.empty())
    return context.used_wrongly("expected histories, or --published");
  const auto histories = load_histories(arguments.histories);
  if (!histories.ok()) return context.fail(histories.status());
  if (arguments.predict) {
    PredictionOptions options = arguments.prediction;
    options.threshold = arguments.threshold;
    return report_steps_predictions(*histories, options, context);
  }
  if (arguments.table && !context.json()) {
    return context.print(fractions_table(*histories, arguments.threshold));
  }
  std::vector<const History*> pointers;
  for (const History& history : *histories) pointers.push_back(&history);
  const std::vector<std::uint64_t> dropped = dropped_failures(pointers);
  nlohmann::json results = nlohmann::json::array();
  TextTable table({{"kernel"},
                   {"device"},
                   {"valid", Align::right},
                   {"fraction", Align::right},
                   {"steps", Align::right},
                   {"without repetition", Align::right}});
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    results.push_back(result_of(*pointers[i], dropped[i], arguments));
    const nlohmann::json& r = results.back();
    table.add_row({r["kernel"], r["device"], std::to_string(r["valid"].get<std::uint64_t>()),
                   percent(r["fraction"]), or_never(r["steps"]),
                   or_never(r["steps_without_repetition"])});
    if (context.json()) continue;
    for (const auto& warning : r["warnings"]) {
      context.warn(pointers[i]->kernel + " on " + pointers[i]->device + ": " +
                   warning.get<std::string>());
    }
  }
  if (context.json()) return context.print_json({{"results", results}});
  context.print(table);
}

}  // namespace

void add_fractions_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<FractionsArguments>();
  Verb verb = line.add_verb(
      "fractions", "tells how many configurations are good, and the steps random search needs");
  const Argument histories = verb.option("histories", arguments->histories,
                                         "Histories (.ithistory, or what import reads)");
  verb.option("--threshold", arguments->threshold, "Relative performance that counts as good")
      .between(0.0, 1.0)
      .shows_default();
  verb.option("--probability", arguments->probability, "Wanted probability of finding a good one")
      .between(0.0, 0.999999999)
      .shows_default();
  verb.flag("--published", arguments->published,
            "Show the fractions that were published for ten benchmarks instead")
      .excludes(histories);
  verb.flag("--table", arguments->table,
            "Print a Markdown table of what tuning brings, beside the published fractions");
  const Argument predict = verb.flag(
      "--predict", arguments->predict,
      of_lab("Predict each device's steps from the other devices, and replay random search to "
             "compare"));
  verb.option("--repeat", arguments->prediction.repeats, "Replays per device")
      .between(1, 1000000)
      .needs(predict)
      .shows_default();
  verb.option("--seed", arguments->prediction.seed, "Seed of the first replay")
      .needs(predict)
      .shows_default();
  verb.example("fractions histories --threshold 0.95");
  context.add_json_flag(verb);
  verb.runs([arguments, &context] { run_fractions(*arguments, context); });
}

}  // namespace idletune::cli

// idletune fractions H...: well-performing fractions and the steps that random search needs.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "agent/cli/histories.hpp"
#include "agent/cli/verbs.hpp"
#include "models/insight/fractions.hpp"
#include "models/insight/steps.hpp"

namespace idletune::cli {

namespace {

struct FractionsArguments {
  std::vector<std::string> histories;
  double threshold = 0.9;
  double probability = 0.95;
};

nlohmann::json or_null(const std::optional<std::uint64_t>& steps) {
  return steps ? nlohmann::json(*steps) : nlohmann::json(nullptr);
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
        " configurations: the fraction is relative to the best one seen, thus too high");
  }
  return {{"kernel", history.kernel},
          {"device", history.device},
          {"valid", d.space},
          {"measured", d.measured},
          {"threshold", arguments.threshold},
          {"probability", arguments.probability},
          {"fraction", fraction},
          {"interval", {interval[0], interval[1]}},
          {"steps", or_null(random_search_steps(fraction, arguments.probability))},
          {"steps_without_repetition",
           or_null(random_search_steps_without_repetition(d.space, good, arguments.probability))},
          {"warnings", warnings}};
}

std::string percent(double share) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3f %%", 100 * share);
  return buffer;
}

void run_fractions(const FractionsArguments& arguments, CliContext& context) {
  const auto histories = load_histories(arguments.histories);
  if (!histories.ok()) return context.fail(histories.status());
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
      context.warn(arguments.histories[i] + ": " + warning.get<std::string>());
    }
  }
  if (context.json()) return context.print_json({{"results", results}});
  context.print(table);
}

}  // namespace

void add_fractions_verb(CLI::App& app, CliContext& context) {
  auto arguments = std::make_shared<FractionsArguments>();
  CLI::App* verb =
      app.add_subcommand("fractions", "Well-performing fractions, and steps of random search");
  verb->add_option("histories", arguments->histories,
                   "Histories (.ithistory, or what import reads)")
      ->required();
  verb->add_option("--threshold", arguments->threshold, "Relative performance that counts as good")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  verb->add_option("--probability", arguments->probability,
                   "Wanted probability of finding a good one")
      ->check(CLI::Range(0.0, 0.999999999))
      ->capture_default_str();
  context.add_json_flag(*verb);
  verb->callback([arguments, &context] { run_fractions(*arguments, context); });
}

}  // namespace idletune::cli

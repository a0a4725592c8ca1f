// idletune fractions H...: well-performing fractions and the steps that random search needs.

#include <idletune/aims.hpp>

#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/known_kernels.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/numbers.hpp"
#include "models/host/insight/fractions.hpp"
#include "models/host/insight/steps.hpp"

namespace idletune::cli {

namespace {

struct FractionsArguments {
  std::vector<std::string> histories;
  double threshold = kWellPerforming;
  double probability = 0.95;
};

json result_of(const History& history, std::uint64_t dropped, const FractionsArguments& arguments) {
  const PerformanceDistribution d = distribution_of(history, dropped);
  const double fraction = d.fraction(arguments.threshold);
  const auto interval = d.interval(arguments.threshold);
  const bool drawn = d.knows_fractions();
  const std::uint64_t good =
      d.is_sample() ? static_cast<std::uint64_t>(fraction * static_cast<double>(d.space))
                    : d.count_at_least(arguments.threshold);
  json warnings = json::array();
  if (dropped > 0) {
    warnings.push_back(std::to_string(dropped) +
                       " configurations that other devices have are missing: counted as failed");
  }
  if (!drawn) {
    warnings.push_back("no uniform draws: it says which configurations are good, not how many");
  } else if (d.is_sample()) {
    warnings.push_back(
        "a sample of " + std::to_string(d.valid) + " of " +
        (d.space < kUnknownSize ? std::to_string(d.space) : "uncounted") +
        " configurations: the fraction is relative to the best one seen, thus too high; at most " +
        report::percent_text(d.better_share_bound()) +
        " of the space are better than that one (95 % sure)");
  }
  return {{"kernel", history.kernel},
          {"device", history.device},
          {"shape", report::shape_object(history.shape)},
          {"problem", problem_object(history)},
          {"valid", d.space},
          {"measured", d.measured},
          {"threshold", arguments.threshold},
          {"probability", arguments.probability},
          {"fraction", drawn ? json(fraction) : json()},
          {"interval", {interval[0], interval[1]}},
          {"sample", d.is_sample()},
          {"better_than_seen_at_most", d.better_share_bound()},
          {"best_ns", positive_or_null(d.best_ns)},
          {"median_ns", positive_or_null(d.median_run_ns)},
          {"default_ns", positive_or_null(default_time_ns(history))},
          {"steps", or_null(random_search_steps(fraction, arguments.probability))},
          {"steps_without_repetition",
           or_null(random_search_steps_without_repetition(d.space, good, arguments.probability))},
          {"warnings", warnings}};
}

void print_fractions(const json& results, const std::vector<std::string>& problems,
                     const CliContext& context) {
  for (const auto& r : results) {
    const std::string about = r["kernel"].get<std::string>() + " on " + std::string(r["device"]);
    for (const auto& warning : r["warnings"]) context.warn(about, warning);
  }
  TextTable table(with_problem(
      problems, {"kernel", "device", ">valid", ">fraction", ">steps", ">without repetition"}));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const json& r = results[i];
    const bool drawn = !r["fraction"].is_null();
    const auto steps = [&](const char* which) {
      return drawn ? report::plain_or_never(r[which]) : "-";
    };
    table.add_row(
        with_problem(problems, i,
                     {r["kernel"], r["device"], report::count_text(r["valid"].get<std::uint64_t>()),
                      drawn ? report::percent_text(r["fraction"]) : "-", steps("steps"),
                      steps("steps_without_repetition")}));
  }
  context.print(table);
}

void run_fractions(const FractionsArguments& arguments, CliContext& context) {
  const auto loaded = must(load_with_files(arguments.histories));
  const std::vector<History>& histories = loaded.histories;
  const auto dropped = dropped_failures(pointers_to(histories));
  json results = json::array();
  for (std::size_t i = 0; i < histories.size(); ++i) {
    results.push_back(result_of(histories[i], dropped[i].size(), arguments));
    results.back()["file"] = loaded.files[i];
  }
  if (context.json()) return context.print_json({{"results", results}});
  print_fractions(results, problem_column(loaded), context);
}

}  // namespace

void add_fractions_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<FractionsArguments>();
  Verb verb = line.add_verb("fractions",
                            "tells what share of a space is good, and how soon chance finds it");
  verb.required("histories", arguments->histories, "Histories (.ithistory, or what import reads)");
  add_threshold(verb, arguments->threshold);
  add_probability(verb, arguments->probability);
  verb.example("fractions histories --threshold 0.95");
  verb.runs([arguments, &context] { run_fractions(*arguments, context); });
}

}  // namespace idletune::cli

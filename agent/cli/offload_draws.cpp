#include "agent/cli/offload_draws.hpp"

#include <cmath>
#include <string>

#include "agent/cli/explanation_output.hpp"
#include "agent/cli/progress.hpp"

namespace idletune::cli {

namespace {

// The publication's classes of speed-up end there.
constexpr double kClasses[] = {1, 4, 10, 25, 100, HUGE_VAL};

nlohmann::json classes_of(const offload::SampleSet& set, const offload::DrawResult& result) {
  nlohmann::json list = nlohmann::json::array();
  double from = 0;
  for (const double limit : kClasses) {
    std::size_t count = 0;
    std::size_t in_range = 0;
    double error = 0;
    double log_error = 0;
    for (const offload::DrawTest& test : result.tests) {
      const offload::Sample& sample = set.samples[test.sample];
      const double speedup = sample.cpu_ms / sample.best_gpu_ms();
      if (!(speedup > from && speedup <= limit)) continue;
      const double predicted = std::exp(test.log_speedup);
      const double off = std::abs(1 - predicted / speedup);
      ++count;
      in_range += predicted > from && predicted <= limit ? 1 : 0;
      error += off;
      log_error += std::log(std::max(1e-6, off));
    }
    if (count > 0) {
      const auto n = static_cast<double>(count);
      list.push_back({{"up_to", number_or_null(limit)},
                      {"tests", count},
                      {"mean", error / n},
                      {"geometric", std::exp(log_error / n)},
                      {"range_right", static_cast<double>(in_range) / n}});
    }
    from = limit;
  }
  return list;
}

void print_classes(const nlohmann::json& classes, const CliContext& context) {
  TextTable by_class({{"speed-up up to", Align::right},
                      {"tests", Align::right},
                      {"mean error", Align::right},
                      {"geometric mean", Align::right},
                      {"range right", Align::right}});
  for (const auto& one : classes) {
    by_class.add_row({one["up_to"].is_null() ? "any" : format_number(one["up_to"], 0),
                      one["tests"].dump(), format_percent(one["mean"]),
                      format_percent(one["geometric"]), format_percent(one["range_right"])});
  }
  context.print(by_class);
}

}  // namespace

void add_draw_options(Verb& verb, DrawArguments& arguments) {
  verb.option(
          "--draws", arguments.draws,
          "Instead of leaving out each group: so many times draw tests of different groups, and "
          "learn from the other groups")
      .between(1, 10000);
  verb.option("--tests", arguments.tests, "Samples that are drawn each time")
      .between(1, 1000)
      .shows_default();
  verb.flag("--derived", arguments.derived, "Draw samples of the suite 'derived', too");
}

void evaluate_with_draws(const DrawArguments& arguments, const LearnerArguments& learner,
                         offload::GroupBy group, const offload::SampleSet& set,
                         CliContext& context) {
  offload::DrawOptions options;
  options.learner = speedup_options(learner);
  options.group = group;
  options.draws = static_cast<std::size_t>(arguments.draws);
  options.tests = static_cast<std::size_t>(arguments.tests);
  options.derived = arguments.derived;
  const bool sweeps = learner.method == "published" || learner.method == "logarithm";
  if (sweeps) options.inclusions = {0.6, 0, 0.2, 0.4, 0.8, 1};
  Progress progress("draws", options.draws, context.json());
  const auto result = offload::evaluate_draws(set, options, [&](std::size_t done, std::size_t) {
    progress.update(done);
    return !interrupted();
  });
  progress.clear();
  if (!result.ok()) return context.fail(result.status());
  nlohmann::json errors = nlohmann::json::array();
  TextTable table({{"share of models", Align::right},
                   {"mean error", Align::right},
                   {"least draw", Align::right},
                   {"worst draw", Align::right}});
  for (const offload::DrawErrors& one : result->errors) {
    errors.push_back({{"inclusion", one.inclusion},
                      {"mean", one.mean},
                      {"least", one.least},
                      {"worst", one.worst}});
    table.add_row({sweeps ? format_percent(one.inclusion) : "-", format_percent(one.mean),
                   format_percent(one.least), format_percent(one.worst)});
  }
  const nlohmann::json classes = classes_of(set, *result);
  if (context.json()) {
    return context.print_json({{"set", set.name},
                               {"device", set.device},
                               {"samples", set.samples.size()},
                               {"learner", learner.method},
                               {"seed", learner.seed},
                               {"tests", options.tests},
                               {"tested", result->tests.size()},
                               {"derived", options.derived},
                               {"errors", errors},
                               {"classes", classes},
                               {"remarks", set.remarks}});
  }
  if (!set.device.empty()) context.print("GPU: " + set.device + "\n");
  for (const std::string& remark : set.remarks) context.print(remark + "\n");
  context.print(table);
  print_classes(classes, context);
}

}  // namespace idletune::cli

// idletune fractions H...: well-performing fractions and the steps that random search needs.

#include <idletune/aims.hpp>

#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/known_kernels.hpp"
#include "agent/host/cli/lab.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/lab/steps/published_fractions.hpp"
#include "agent/host/report/numbers.hpp"
#include "models/core/median.hpp"
#include "models/host/insight/fractions.hpp"
#include "models/host/insight/steps.hpp"

namespace idletune::cli {

namespace {

std::string time_text(double ns) { return ns > 0 ? report::time_text(ns) : "-"; }

std::string ratio_text(double dividend, double divisor) {
  return dividend > 0 && divisor > 0 ? report::significant(dividend / divisor) : "-";
}

std::string published_text(const std::string& kernel, Processor processor) {
  const auto prior = published_prior(kernel, processor);
  if (!prior) return "-";
  const std::string lowest = report::percent_text(prior->lowest);
  return prior->lowest == prior->highest ? lowest
                                         : lowest + " to " + report::percent_text(prior->highest);
}

// A device's name may contain what ends a cell.
std::string cell(std::string name) {
  for (char& c : name) {
    if (c == '|' || c == '\n') c = ' ';
  }
  return name;
}

// How far apart the timings of the default lay: the middle half (of four at least), and all.
std::string spread_text(const json& note) {
  std::vector<double> medians;
  const auto control = note.find("control");
  if (control == note.end() || !control->is_array()) return "-";
  for (const json& timing : *control) medians.push_back(timing.value("median", 0.0));
  std::sort(medians.begin(), medians.end());
  const std::size_t n = medians.size();
  if (n < 2 || !(medians.front() > 0)) return "-";
  const double middle = median_of_ascending(medians);
  const auto share = [middle](double from, double to) {
    return report::percent_text((to - from) / middle);
  };
  const std::string all = share(medians.front(), medians.back());
  return n < 4 ? all : share(medians[n / 4], medians[n - 1 - n / 4]) + ", " + all;
}

std::string row(const History& history, double threshold) {
  const PerformanceDistribution d = distribution_of(history);
  const json note = default_note(history);
  const double fallback = default_time_ns(history);
  const std::string within = d.valid == 0
                                 ? "-"
                                 : report::percent_text(d.fraction(threshold)) +
                                       (d.is_sample() ? " of " + std::to_string(d.valid) : "");
  std::string line = "|";
  for (const std::string& field :
       {"`" + cell(history.kernel) + "`", report::shape_text(history.shape),
        std::to_string(history.parameters.size()), std::to_string(d.space), cell(history.device),
        time_text(fallback), time_text(d.best_ns), ratio_text(fallback, d.best_ns),
        ratio_text(d.median_run_ns, d.best_ns), within, spread_text(note),
        published_text(history.kernel, Processor::cpu),
        published_text(history.kernel, Processor::gpu)}) {
    line += " " + field + " |";
  }
  return line + "\n";
}

std::string fractions_table(const std::vector<History>& histories, double threshold) {
  const std::string share = report::percent_text(threshold);
  std::string table =
      "| kernel | shape | parameters | valid | device | default | best | default / best | median / "
      "best | within " +
      share +
      " of the best | spread | published, CPUs | published, GPUs |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const History& history : histories) table += row(history, threshold);
  return table;
}

struct FractionsArguments {
  std::vector<std::string> histories;
  double threshold = kWellPerforming;
  double probability = 0.95;
  bool published = false;
  bool table = false;
  bool predict = false;
  PredictionOptions prediction;
};

json result_of(const History& history, std::uint64_t dropped, const FractionsArguments& arguments) {
  const PerformanceDistribution d = distribution_of(history, dropped);
  const double fraction = d.fraction(arguments.threshold);
  const auto interval = d.interval(arguments.threshold);
  const std::uint64_t good =
      d.is_sample() ? static_cast<std::uint64_t>(fraction * static_cast<double>(d.space))
                    : d.count_at_least(arguments.threshold);
  json warnings = json::array();
  if (dropped > 0) {
    warnings.push_back(std::to_string(dropped) +
                       " configurations that other devices have are missing: counted as failed");
  }
  if (d.is_sample()) {
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
          {"fraction", fraction},
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

json published_results(const FractionsArguments& arguments) {
  return list_of(published_fractions(), [&](const PublishedFraction& cell) -> json {
    return {{"kernel", cell.benchmark},
            {"device", cell.device},
            {"processor", cell.processor == Processor::gpu ? "gpu" : "cpu"},
            {"threshold", kPublishedThreshold},
            {"probability", arguments.probability},
            {"fraction", cell.fraction},
            {"steps", or_null(random_search_steps(cell.fraction, arguments.probability))}};
  });
}

void print_published(const FractionsArguments& arguments, CliContext& context) {
  const json results = published_results(arguments);
  const std::string source =
      "Olha, Hozzova, Fousek, Filipovic: Exploiting historical data: pruning autotuning spaces and "
      "estimating the number of tuning steps. Concurrency and Computation: Practice and Experience "
      "32 (21), 2020, doi:10.1002/cpe.5962, tables 4 and 5";
  if (context.json()) return context.print_json({{"results", results}, {"source", source}});
  TextTable table({"kernel", "device", ">fraction", ">steps"});
  for (const auto& r : results) {
    table.add_row({r["kernel"], r["device"], report::percent_text(r["fraction"]),
                   report::plain_or_never(r["steps"])});
  }
  context.print(table);
  context.print_paragraph("Share of KTT's spaces within 90 % of the best. From " + source + ".");
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
    table.add_row(
        with_problem(problems, i,
                     {r["kernel"], r["device"], report::count_text(r["valid"].get<std::uint64_t>()),
                      report::percent_text(r["fraction"]), report::plain_or_never(r["steps"]),
                      report::plain_or_never(r["steps_without_repetition"])}));
  }
  context.print(table);
}

void run_fractions(const FractionsArguments& arguments, CliContext& context) {
  if (arguments.published) return print_published(arguments, context);
  if (arguments.histories.empty())
    return context.used_wrongly("expected histories, or --published");
  const auto loaded = must(load_with_files(arguments.histories));
  const std::vector<History>& histories = loaded.histories;
  if (arguments.predict) {
    PredictionOptions options = arguments.prediction;
    options.threshold = arguments.threshold;
    return report_steps_predictions(histories, options, context);
  }
  if (arguments.table) return context.print(fractions_table(histories, arguments.threshold));
  const std::vector<std::uint64_t> dropped = dropped_failures(pointers_to(histories));
  json results = json::array();
  for (std::size_t i = 0; i < histories.size(); ++i) {
    results.push_back(result_of(histories[i], dropped[i], arguments));
    results.back()["file"] = loaded.files[i];
  }
  if (context.json()) return context.print_json({{"results", results}});
  print_fractions(results, problem_column(loaded), context);
}

}  // namespace

void add_fractions_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<FractionsArguments>();
  Verb verb = line.add_verb(
      "fractions", "tells how many configurations are good, and the steps random search needs");
  const Argument histories = verb.option("histories", arguments->histories,
                                         "Histories (.ithistory, or what import reads)");
  const Argument threshold = add_threshold(verb, arguments->threshold);
  const Argument probability = add_probability(verb, arguments->probability);
  const Argument published =
      verb.flag("--published", arguments->published,
                "Show the fractions that were published for ten benchmarks instead")
          .excludes(histories)
          .excludes(threshold);
  const Argument table =
      verb.flag("--table", arguments->table,
                "Print a Markdown table of what tuning brings, beside the published fractions")
          .excludes(published)
          .excludes(probability)
          .acts("without --json", [&context] { return !context.json(); });
  const Argument predict = verb.flag("--predict", arguments->predict,
                                     of_lab("Predict each device's steps from the other devices, "
                                            "and replay random search to compare"))
                               .excludes(table)
                               .excludes(probability)
                               .excludes(published);
  verb.option("--repeat", arguments->prediction.repeats, "Replays per device")
      .between(1, 1000000)
      .needs(predict);
  verb.option("--seed", arguments->prediction.seed, "Seed of the first replay").needs(predict);
  verb.example("fractions histories --threshold 0.95");
  verb.runs([arguments, &context] { run_fractions(*arguments, context); });
}

}  // namespace idletune::cli

// idletune lab fractions H...: what tuning brings, beside the fractions that were published.

#include <idletune/aims.hpp>

#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/known_kernels.hpp"
#include "agent/host/lab/steps/published_fractions.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
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
};

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

void run_fractions(const FractionsArguments& arguments, CliContext& context) {
  if (arguments.published) return print_published(arguments, context);
  if (arguments.histories.empty())
    return context.used_wrongly("expected histories, or --published");
  const std::string table =
      fractions_table(must(load_histories(arguments.histories)), arguments.threshold);
  if (context.json()) return context.print_json({{"table", table}});
  context.print(table);
}

}  // namespace

void add_lab_fractions_verb(Verb& lab, CliContext& context) {
  auto arguments = std::make_shared<FractionsArguments>();
  Verb verb = lab.add_verb(
      "fractions", "puts what tuning brings beside published fractions, as a Markdown table");
  const Argument histories = verb.option("histories", arguments->histories,
                                         "Histories (.ithistory, or what import reads)");
  const Argument threshold = add_threshold(verb, arguments->threshold);
  const Argument published =
      verb.flag("--published", arguments->published,
                "Show the fractions that were published for ten benchmarks instead")
          .excludes(histories)
          .excludes(threshold);
  add_probability(verb, arguments->probability).needs(published);
  verb.example("lab fractions histories --threshold 0.95");
  verb.runs([arguments, &context] { run_fractions(*arguments, context); });
}

}  // namespace idletune::cli

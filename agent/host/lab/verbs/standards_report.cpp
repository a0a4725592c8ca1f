#include "agent/host/lab/verbs/standards_report.hpp"

#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/report/numbers.hpp"
#include "models/core/median.hpp"

namespace idletune::cli {

namespace {

json figure_of(const std::optional<std::uint64_t>& samples, std::uint64_t random,
               std::uint64_t configurations) {
  if (!samples) return nullptr;
  const double n = static_cast<double>(*samples);
  return {{"samples", *samples},
          {"ratio", n / static_cast<double>(configurations)},
          {"normalized", n / static_cast<double>(random)}};
}

json result_of(const StandardsTarget& target, const std::string& searcher, const Standards& found,
               const Standards& random) {
  const std::uint64_t all = target.simulation->history().valid_rows().size();
  return {{"target", target.name},
          {"kernel", target.simulation->history().kernel},
          {"device", target.simulation->history().device},
          {"searcher", searcher},
          {"configurations", all},
          {"standard1", figure_of(found.standard1, *random.standard1, all)},
          {"standard2", figure_of(found.standard2, *random.standard2, all)}};
}

// Figure 11: over the targets. Those where a standard was not reached count as worse than all.
json summary_of(const json& results, const std::string& searcher) {
  json summary{{"searcher", searcher}};
  for (const char* standard : {"standard1", "standard2"}) {
    std::vector<double> normalized;
    std::size_t targets = 0;
    for (const auto& result : results) {
      if (result["searcher"] != searcher) continue;
      ++targets;
      if (!result[standard].is_null()) {
        normalized.push_back(result[standard]["normalized"].get<double>());
      }
    }
    json& of = summary[standard];
    of = {{"targets", targets}, {"reached", normalized.size()}};
    normalized.resize(targets, INFINITY);
    const double median = median_of(normalized);
    if (targets > 0 && std::isfinite(median)) {
      of["median_normalized"] = median;
      of["least_normalized"] = *std::min_element(normalized.begin(), normalized.end());
    }
  }
  return summary;
}

// "samples" are a count, "ratio" a share, and what is normalized a number.
std::string text_of(const json& figure, const char* key) {
  if (figure.is_null() || !figure.contains(key)) return "-";
  const double value = figure[key].get<double>();
  if (std::string(key) == "ratio") return report::percent_text(value);
  return std::string(key) == "samples" ? report::mean_count_text(value)
                                       : report::significant(value);
}

void print_standards(const json& answer, const CliContext& context) {
  TextTable table({"kernel", "device", "searcher", ">standard 1: samples", ">of space", ">x random",
                   ">standard 2: samples", ">of space", ">x random"});
  for (const auto& r : answer["standards"]) {
    std::vector<std::string> row{r["kernel"], r["device"], r["searcher"]};
    for (const char* standard : {"standard1", "standard2"}) {
      for (const char* key : {"samples", "ratio", "normalized"})
        row.push_back(text_of(r[standard], key));
    }
    table.add_row(row);
  }
  for (const auto& s : answer["summary"]) {
    table.add_row({"(median)", "", s["searcher"], "", "",
                   text_of(s["standard1"], "median_normalized"), "", "",
                   text_of(s["standard2"], "median_normalized")});
  }
  context.print(table);
}

}  // namespace

void report_standards(const std::vector<StandardsTarget>& targets,
                      const std::vector<std::string>& searchers, const StandardsOptions& options,
                      CliContext& context) {
  const KeepsPart keeps;
  json results = json::array();
  Progress progress("standards", targets.size() * searchers.size(), context.json());
  std::size_t done = 0;
  for (const StandardsTarget& target : targets) {
    const Standards random = standards_of_random(*target.simulation, options.until);
    for (const std::string& searcher : searchers) {
      const std::string note = target.name + " with " + searcher;
      const auto go_on = [&] {
        progress.update(done, note);
        return !interrupted();
      };
      const auto found = must(standards_of(*target.simulation, searcher, options, go_on));
      if (interrupted()) break;
      results.push_back(result_of(target, searcher, found, random));
      ++done;
    }
  }
  const json report{{"standards", results},
                    {"summary", list_of(searchers,
                                        [&](const std::string& searcher) {
                                          return summary_of(results, searcher);
                                        })},
                    {"until", options.until},
                    {"repeats", options.repeats},
                    {"iterations", options.iterations},
                    {"complete", !interrupted()}};
  if (context.json()) {
    context.print_json(report);
  } else {
    print_standards(report, context);
  }
  if (interrupted()) context.stopped("stopped early: the figures are of what was finished");
}

}  // namespace idletune::cli

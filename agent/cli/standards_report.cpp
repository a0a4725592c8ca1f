#include "agent/cli/standards_report.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>

#include <nlohmann/json.hpp>

#include "agent/cli/progress.hpp"

namespace idletune::cli {

namespace {

nlohmann::json figure_of(const std::optional<std::uint64_t>& samples, std::uint64_t random,
                         std::uint64_t configurations) {
  if (!samples) return nullptr;
  const double n = static_cast<double>(*samples);
  return {{"samples", *samples},
          {"ratio", n / static_cast<double>(configurations)},
          {"normalized", n / static_cast<double>(random)}};
}

nlohmann::json result_of(const StandardsTarget& target, const std::string& searcher,
                         const Standards& found, const Standards& random) {
  const std::uint64_t all = target.simulation->space().valid_count();
  return {{"target", target.name},
          {"kernel", target.simulation->history().kernel},
          {"device", target.simulation->history().device},
          {"searcher", searcher},
          {"configurations", all},
          {"standard1", figure_of(found.standard1, *random.standard1, all)},
          {"standard2", figure_of(found.standard2, *random.standard2, all)}};
}

// Figure 11: over the targets. Those where a standard was not reached count as worse than all.
nlohmann::json summary_of(const nlohmann::json& results, const std::string& searcher) {
  nlohmann::json summary{{"searcher", searcher}};
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
    std::sort(normalized.begin(), normalized.end());
    nlohmann::json& of = summary[standard];
    of = {{"targets", targets}, {"reached", normalized.size()}};
    const std::size_t middle = targets / 2;
    if (targets > 0 && middle < normalized.size()) {
      of["median_normalized"] = normalized[middle];
      of["least_normalized"] = normalized.front();
    }
  }
  return summary;
}

std::string text_of(const nlohmann::json& figure, const char* key, double factor, int digits) {
  if (figure.is_null() || !figure.contains(key)) return "-";
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, factor * figure[key].get<double>());
  return buffer;
}

void print_readable(const nlohmann::json& report, const CliContext& context) {
  TextTable table({{"kernel"},
                   {"device"},
                   {"searcher"},
                   {"standard 1: samples", Align::right},
                   {"% of space", Align::right},
                   {"x random", Align::right},
                   {"standard 2: samples", Align::right},
                   {"% of space", Align::right},
                   {"x random", Align::right}});
  for (const auto& r : report["standards"]) {
    std::vector<std::string> row{r["kernel"], r["device"], r["searcher"]};
    for (const char* standard : {"standard1", "standard2"}) {
      row.push_back(text_of(r[standard], "samples", 1, 0));
      row.push_back(text_of(r[standard], "ratio", 100, 2));
      row.push_back(text_of(r[standard], "normalized", 1, 2));
    }
    table.add_row(row);
  }
  for (const auto& s : report["summary"]) {
    table.add_row({"(median)", "", s["searcher"], "", "",
                   text_of(s["standard1"], "median_normalized", 1, 2), "", "",
                   text_of(s["standard2"], "median_normalized", 1, 2)});
  }
  context.print(table);
}

}  // namespace

void report_standards(const std::vector<StandardsTarget>& targets,
                      const std::vector<std::string>& searchers, const StandardsOptions& options,
                      CliContext& context) {
  nlohmann::json results = nlohmann::json::array();
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
      const auto found = standards_of(*target.simulation, searcher, options, go_on);
      if (!found.ok()) {
        progress.clear();
        return context.fail(found.status());
      }
      if (interrupted()) break;
      results.push_back(result_of(target, searcher, *found, random));
      ++done;
    }
  }
  progress.clear();
  if (interrupted()) context.warn("stopped early: the figures are of what was finished");
  nlohmann::json summary = nlohmann::json::array();
  for (const std::string& searcher : searchers) summary.push_back(summary_of(results, searcher));
  const nlohmann::json report{{"standards", results},
                              {"summary", summary},
                              {"until", options.until},
                              {"repeats", options.repeats},
                              {"iterations", options.iterations},
                              {"complete", !interrupted()}};
  if (context.json()) return context.print_json(report);
  print_readable(report, context);
}

}  // namespace idletune::cli

#include "agent/cli/fractions_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

#include "agent/cli/histories.hpp"
#include "agent/cli/progress.hpp"
#include "agent/cli/report/numbers.hpp"
#include "models/core/median.hpp"
#include "models/insight/fractions.hpp"
#include "models/insight/published_fractions.hpp"

namespace idletune::cli {
namespace {

using Json = nlohmann::json;

// What `idletune explore` noted about the default; an empty object without it.
Json default_note(const History& history) {
  for (const auto& [key, text] : history.notes) {
    if (key != "default") continue;
    Json note = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (note.is_object()) return note;
  }
  return Json::object();
}

double number(const Json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text(const char* format, double value) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

std::string time_text(double ns) {
  return ns > 0 ? readable(std::chrono::nanoseconds(std::llround(ns))) : "-";
}

std::string ratio_text(double dividend, double divisor) {
  return dividend > 0 && divisor > 0 ? text("%.2f", dividend / divisor) : "-";
}

// Two significant digits are all that such shares have.
std::string share_text(double share) { return text("%.2g %%", 100 * share); }

std::string published_text(const std::string& kernel, Processor processor) {
  const auto prior = published_prior(kernel, processor);
  if (!prior) return "-";
  if (prior->lowest == prior->highest) return share_text(prior->lowest);
  return share_text(prior->lowest) + " to " + share_text(prior->highest);
}

// A device's name may contain what ends a cell.
std::string cell(std::string name) {
  for (char& c : name) {
    if (c == '|' || c == '\n') c = ' ';
  }
  return name;
}

// How far apart the timings of the default lay: the middle half (of four at least), and all.
std::string spread_text(const Json& note) {
  std::vector<double> medians;
  const auto control = note.find("control");
  if (control == note.end() || !control->is_array()) return "-";
  for (const Json& timing : *control) medians.push_back(number(timing, "median"));
  std::sort(medians.begin(), medians.end());
  const std::size_t n = medians.size();
  if (n < 2 || !(medians.front() > 0)) return "-";
  const double middle = median_of_ascending(medians);
  const auto share = [middle](double from, double to) { return 100 * (to - from) / middle; };
  std::string all = text("%.0f %%", share(medians.front(), medians.back()));
  if (n < 4) return all;
  return text("%.1f %%", share(medians[n / 4], medians[n - 1 - n / 4])) + ", " + all;
}

std::string row(const History& history, double threshold) {
  const PerformanceDistribution d = distribution_of(history);
  const Json note = default_note(history);
  const double fallback = default_time_ns(history);
  const std::string within = d.valid == 0
                                 ? "-"
                                 : share_text(d.fraction(threshold)) +
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

}  // namespace

double default_time_ns(const History& history) { return number(default_note(history), "run_time"); }

std::string fractions_table(const std::vector<History>& histories, double threshold) {
  const std::string share = text("%g %%", 100 * threshold);
  std::string table =
      "| kernel | shape | parameters | valid | device | default | best | default / best "
      "| median / best | within " +
      share +
      " of the best | spread | published, CPUs | published, GPUs |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const History& history : histories) table += row(history, threshold);
  return table;
}

}  // namespace idletune::cli

// How performance is distributed, and what that means for random search.

#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"
#include "models/core/median.hpp"
#include "models/host/insight/steps.hpp"

namespace idletune::report {
namespace {

std::uint64_t failed(const PerformanceDistribution& d) {
  return static_cast<std::uint64_t>(std::upper_bound(d.sorted.begin(), d.sorted.end(), 0.0) -
                                    d.sorted.begin());
}

RowPlot::Value fraction_of(const Source& source, double threshold) {
  const auto interval = source.distribution.interval(threshold);
  const double fraction = source.distribution.fraction(threshold);
  return {fraction, source.device + ": " + percent_text(fraction), interval[0], interval[1]};
}

void add_row(Table& table, const Pair& at, const ReportOptions& options) {
  const PerformanceDistribution& d = at.source->distribution;
  const RowPlot::Value fraction = fraction_of(*at.source, options.threshold);
  const std::uint64_t good =
      d.is_sample()
          ? static_cast<std::uint64_t>(std::llround(fraction.value * static_cast<double>(d.space)))
          : d.count_at_least(options.threshold);
  const std::string interval = range_text(percent_text(fraction.low), percent_text(fraction.high));
  table.rows.push_back(
      {at.group->title, at.source->device, count_text(d.space),
       d.is_sample() ? count_text(d.valid) : "all", count_text(failed(d)), time_text(d.best_ns),
       percent_text(fraction.value), d.is_sample() ? interval : "whole space",
       count_or_never(random_search_steps(fraction.value, options.probability)),
       count_or_never(random_search_steps_without_repetition(d.space, good, options.probability))});
}

Table table_of(const Study& study, const ReportOptions& options) {
  Table table("Well-performing fractions and steps of random search",
              {"kernel", "device", ">valid", ">measured", ">failed", ">best time", ">fraction",
               ">95\u00A0% interval", ">steps", ">without repetition"});
  bool samples = false;
  std::uint64_t dropped = 0;
  for (const Pair& at : study.pairs()) {
    add_row(table, at, options);
    samples = samples || at.source->distribution.is_sample();
    dropped += at.source->dropped_failures;
  }
  table.caption = "Fraction: share of the valid configurations that reach " +
                  percent_text(options.threshold) +
                  " of the best one\u2019s performance; failed ones do not. Steps: what random "
                  "search needs to find one of them with a probability of " +
                  percent_text(options.probability) +
                  ", ln(1 \u2212 p) / ln(1 \u2212 fraction) rounded up; next to it the figure for "
                  "drawing without repetition.";
  if (samples)
    table.caption +=
        " Where only a sample was measured the interval is Wilson\u2019s, and the fraction is "
        "relative to the best one seen, thus rather too high.";
  if (dropped > 0)
    table.caption += " " + counted(dropped, "configuration", "configurations") +
                     " that other devices have and a file lacks count as failed there.";
  return table;
}

Figure fraction_figure(const Study& study, double threshold) {
  RowPlot plot{RowPlot::dots, "well-performing fraction of the space"};
  bool several = false;
  for (const Group& group : study.groups) {
    if (plot.rows.size() == kMostPanels) break;
    RowPlot::Row row{group.title, group.sources.size() == 1 ? "one device" : "", {}};
    Limits fractions;
    for (const Source& source : group.sources) {
      row.values.push_back(fraction_of(source, threshold));
      fractions.include(row.values.back().value);
    }
    several = several || group.sources.size() > 1;
    if (group.sources.size() > 1 && fractions.low > 0)
      row.note = significant(fractions.high / fractions.low, 2) + " times apart";
    plot.rows.push_back(std::move(row));
  }
  Figure figure("fractions", "Well-performing fractions across devices");
  figure.add(plot);
  figure.caption = "One dot per device: the share of valid configurations with at least " +
                   percent_text(threshold) +
                   " of the best performance there (the figures are in the table below). Thin "
                   "lines are 95\u00A0% intervals where only a sample was measured; a fraction of "
                   "0 has no place on this axis." +
                   (several ? " On the right: the largest over the smallest." : "") +
                   panels_left_out(study);
  figure.counts.update({{"kernels", plot.rows.size()}, {"threshold", threshold}});
  return figure;
}

// What the figure shows, in a sentence: how far apart devices are, and kernels.
std::string finding(const Study& study, double threshold) {
  std::vector<double> ratios;
  Limits all;
  for (const Group& group : study.groups) {
    Limits here;
    for (const Source& source : group.sources)
      here.include(source.distribution.fraction(threshold));
    all.include(here.low);
    all.include(here.high);
    if (group.sources.size() > 1 && here.low > 0) ratios.push_back(here.high / here.low);
  }
  if (ratios.empty() || study.groups.size() < 2 || !(all.low > 0)) return {};
  return "Between devices of one kernel the largest fraction is " +
         significant(median_of(ratios), 2) + " times the smallest (median over kernels; at most " +
         significant(*std::max_element(ratios.begin(), ratios.end()), 2) +
         "); over everything on this page it is " + significant(all.high / all.low, 2) + " times.";
}

}  // namespace

std::string left_out(std::size_t drawn, std::size_t all, const std::string& what) {
  if (drawn >= all) return {};
  return " Only the first " + count_text(drawn) + " of " + count_text(all) + " " + what + ".";
}

std::string panels_left_out(const Study& study) {
  return left_out(kMostPanels, study.groups.size(), "kernels and sizes are drawn");
}

std::string pairs_left_out(const Study& study, std::size_t looked, const std::string& what) {
  return left_out(looked, study.source_count(), "pairs of kernel and device are " + what);
}

Section distribution_section(const Study& study, const ReportOptions& options,
                             const Continue& go_on) {
  Figure figure("violin", "Relative performance of all configurations",
                {{"violin", true, "configurations that ran"},
                 {"good", true, "at least " + percent_text(options.threshold) + " of the best"},
                 {"quartiles", false, "middle half, and median"}});
  Limits bandwidths;
  for (const Group& group : study.groups) {
    if (figure.panels.size() == kMostPanels || !go_on("distribution: " + group.title)) break;
    RowPlot plot{RowPlot::violins, "performance relative to the best", {}, options.threshold};
    Limits valid;
    std::string failures;
    for (const Source& source : group.sources) {
      const PerformanceDistribution& d = source.distribution;
      RowPlot::Row row{source.device, percent_text(d.fraction(options.threshold)) + " good", {}};
      const std::vector<double> ran(d.sorted.begin() + static_cast<std::ptrdiff_t>(failed(d)),
                                    d.sorted.end());
      for (const double value : ran) row.values.push_back({value, ""});
      if (!ran.empty()) bandwidths.include(density_of(ran).bandwidth);
      valid.include(static_cast<double>(d.valid));
      failures += (failures.empty() ? "" : " ") +
                  percent_text(static_cast<double>(failed(d)) / static_cast<double>(d.valid)) +
                  " failed on " + source.device + ".";
      plot.rows.push_back(std::move(row));
    }
    figure.add(plot, group.title, "",
               range_text(mean_count_text(valid.low), mean_count_text(valid.high), " to ") +
                   " configurations per device",
               failures);
  }
  figure.caption =
      "Gaussian kernel densities of the relative performance of the configurations that ran "
      "correctly, reflected at both ends; bandwidth by Silverman\u2019s rule of thumb but at least "
      "0.5\u00A0% (" +
      range_text(percent_text(bandwidths.low), percent_text(bandwidths.high), " to ") +
      " here). Every violin is drawn to the same greatest thickness. The figures on the right are "
      "shares of all valid configurations, failed ones included (these are not drawn)." +
      panels_left_out(study);
  figure.counts["threshold"] = options.threshold;
  const Paragraph lead{
      "Relative performance is the best run time on a device divided by a "
      "configuration\u2019s: the best has 100\u00A0%. A fat right end means that good "
      "configurations are easy to come by, a thin one that they have to be searched for."};
  return {"distribution", "How performance is distributed", {lead, figure}};
}

Section fraction_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  go_on("fractions");
  const Paragraph lead{
      "How long random search takes depends on nothing but the share of configurations that are "
      "good enough. Where that share is alike on all devices, it can be foretold for a new one. " +
      finding(study, options.threshold)};
  return {"fractions",
          "How many configurations are good",
          {lead, fraction_figure(study, options.threshold), table_of(study, options)}};
}

}  // namespace idletune::report

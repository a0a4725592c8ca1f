// Well-performing fractions and steps.

#include "agent/host/pictures/plots.hpp"
#include "agent/host/pictures/scale.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"
#include "models/host/insight/steps.hpp"

namespace idletune::report {
namespace {

struct Fraction {
  double value = 0;
  double low = 0;
  double high = 0;
};

Fraction fraction_of(const PerformanceDistribution& distribution, double threshold) {
  const auto interval = distribution.interval(threshold);
  return {distribution.fraction(threshold), interval[0], interval[1]};
}

std::string interval_text(const PerformanceDistribution& distribution, const Fraction& fraction) {
  if (!distribution.is_sample()) return "whole space";
  return range_text(percent_text(fraction.low), percent_text(fraction.high));
}

std::vector<std::string> row_of(const Group& group, const Source& source,
                                const ReportOptions& options) {
  const PerformanceDistribution& d = source.distribution;
  const Fraction fraction = fraction_of(d, options.threshold);
  const std::uint64_t good =
      d.is_sample() ? static_cast<std::uint64_t>(fraction.value * static_cast<double>(d.space))
                    : d.count_at_least(options.threshold);
  const auto failed = static_cast<std::uint64_t>(
      std::upper_bound(d.sorted.begin(), d.sorted.end(), 0.0) - d.sorted.begin());
  return {
      group.title,
      source.device,
      count_text(d.space),
      d.is_sample() ? count_text(d.valid) : "all",
      count_text(failed),
      time_text(d.best_ns),
      percent_text(fraction.value),
      interval_text(d, fraction),
      count_or_never(random_search_steps(fraction.value, options.probability)),
      count_or_never(random_search_steps_without_repetition(d.space, good, options.probability))};
}

Table table_of(const Study& study, const ReportOptions& options) {
  Table table("Well-performing fractions and steps of random search",
              {"kernel", "device", ">valid", ">measured", ">failed", ">best time", ">fraction",
               ">95\u00A0% interval", ">steps", ">without repetition"});
  bool samples = false;
  std::uint64_t dropped = 0;
  for (const Group& group : study.groups) {
    for (const Source& source : group.sources) {
      table.rows.push_back(row_of(group, source, options));
      samples = samples || source.distribution.is_sample();
      dropped += source.dropped_failures;
    }
  }
  table.caption = "Fraction: share of the valid configurations that reach " +
                  percent_text(options.threshold) +
                  " of the best one\u2019s performance; failed ones do not. Steps: what random "
                  "search needs to find one of them with a probability of " +
                  percent_text(options.probability) +
                  ", ln(1 \u2212 p) / ln(1 \u2212 fraction) rounded up; next to it the figure for "
                  "drawing without repetition.";
  if (samples) {
    table.caption +=
        " Where only a sample was measured the interval is Wilson\u2019s, and the fraction is "
        "relative to the best one seen, thus rather too high.";
  }
  if (dropped > 0) {
    table.caption += " " + counted(dropped, "configuration", "configurations") +
                     " that other devices have and a file lacks count as failed there.";
  }
  return table;
}

RangeRow row_of(const Group& group, double threshold) {
  RangeRow row;
  row.name = group.title;
  Limits fractions;
  for (const Source& source : group.sources) {
    const Fraction fraction = fraction_of(source.distribution, threshold);
    row.values.push_back({fraction.value, fraction.low, fraction.high,
                          source.device + ": " + percent_text(fraction.value)});
    fractions.include(fraction.value);
  }
  if (group.sources.size() > 1 && fractions.low > 0)
    row.note = significant(fractions.high / fractions.low, 2) + " times apart";
  if (group.sources.size() == 1) row.note = "one device";
  return row;
}

Figure figure_of(const Study& study, double threshold) {
  RangePlot plot;
  plot.caption = {"fractions-1", "Well-performing fractions by kernel and device", ""};
  plot.axis = "well-performing fraction of the space";
  std::size_t dots = 0;
  bool several = false;
  for (const Group& group : study.groups) {
    if (plot.rows.size() == kMostPanels) break;
    plot.rows.push_back(row_of(group, threshold));
    several = several || group.sources.size() > 1;
    for (const RangeRow::Value& value : plot.rows.back().values) dots += value.value > 0 ? 1 : 0;
    plot.caption.description += group.title + ":";
    for (const RangeRow::Value& value : plot.rows.back().values)
      plot.caption.description += " " + value.tip + ".";
    plot.caption.description += " ";
  }
  Figure figure("Well-performing fractions across devices");
  figure.panels.push_back({"", "", draw(plot), ""});
  figure.caption = "One dot per device: the share of valid configurations with at least " +
                   percent_text(threshold) +
                   " of the best performance there (the figures are in the table below). Thin "
                   "lines are 95\u00A0% intervals where only a sample was measured; a fraction of "
                   "0 has no place on this axis." +
                   (several ? " On the right: the largest over the smallest." : "") +
                   panels_left_out(study);
  figure.counts = {{"kernels", plot.rows.size()}, {"dots", dots}, {"threshold", threshold}};
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
  std::sort(ratios.begin(), ratios.end());
  return "Between devices of one kernel the largest fraction is " +
         significant(quantile_of(ratios, 0.5), 2) +
         " times the smallest (median over kernels; at most " + significant(ratios.back(), 2) +
         "); over everything on this page it is " + significant(all.high / all.low, 2) + " times.";
}

}  // namespace

Section fraction_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  go_on("fractions");
  const Paragraph lead{
      "How long random search takes depends on nothing but the share of configurations that are "
      "good enough. Where that share is alike on all devices, it can be foretold for a new one. " +
      finding(study, options.threshold)};
  return {"fractions",
          "How many configurations are good",
          {lead, figure_of(study, options.threshold), table_of(study, options)}};
}

}  // namespace idletune::report

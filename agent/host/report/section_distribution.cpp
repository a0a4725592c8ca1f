// Violin plots of relative performance.

#include "agent/host/pictures/plots.hpp"
#include "agent/host/pictures/scale.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"

namespace idletune::report {
namespace {

// q of the configurations that ran, ascending.
std::vector<double> performances(const PerformanceDistribution& distribution) {
  const auto first = std::upper_bound(distribution.sorted.begin(), distribution.sorted.end(), 0.0);
  return std::vector<double>(first, distribution.sorted.end());
}

std::string described(const Violin& violin, const PerformanceDistribution& distribution) {
  const std::size_t failed = static_cast<std::size_t>(distribution.valid) - violin.values.size();
  return violin.name + ": " + violin.note + ", median " +
         percent_text(quantile_of(violin.values, 0.5)) + " of the best, " +
         percent_text(static_cast<double>(failed) / static_cast<double>(distribution.valid)) +
         " failed. ";
}

Figure::Panel panel_of(const Group& group, std::size_t number, double threshold,
                       Limits& bandwidths) {
  ViolinPlot plot;
  plot.caption = {"violin-" + std::to_string(number), group.title + ": distribution of performance",
                  ""};
  plot.threshold = threshold;
  Limits configurations;
  for (const Source& source : group.sources) {
    Violin violin;
    violin.name = source.device;
    violin.values = performances(source.distribution);
    violin.note = percent_text(source.distribution.fraction(threshold)) + " good";
    bandwidths.include(density_of(violin.values).bandwidth);
    configurations.include(static_cast<double>(source.distribution.valid));
    plot.caption.description += described(violin, source.distribution);
    plot.violins.push_back(std::move(violin));
  }
  const std::string remark =
      range_text(mean_count_text(configurations.low), mean_count_text(configurations.high), " to ");
  return {group.title, "", draw(plot), remark + " configurations per device"};
}

}  // namespace

std::string left_out(std::size_t drawn, std::size_t all, const std::string& what) {
  if (drawn >= all) return {};
  return " Only the first " + count_text(drawn) + " of " + count_text(all) + " " + what + ".";
}

std::string panels_left_out(const Study& study) {
  return left_out(kMostPanels, study.groups.size(), "kernels and sizes are drawn");
}

Section distribution_section(const Study& study, const ReportOptions& options,
                             const Continue& go_on) {
  Section section{"distribution", "How performance is distributed", {}};
  section.parts.push_back(Paragraph{
      "Relative performance is the best run time on a device divided by a "
      "configuration\u2019s: the best has 100\u00A0%. A fat right end means that good "
      "configurations are easy to come by, a thin one that they have to be searched for."});
  Figure figure("Relative performance of all configurations",
                {{"violin", true, "configurations that ran"},
                 {"good", true, "at least " + percent_text(options.threshold) + " of the best"},
                 {"quartiles", false, "middle half, and median"}});
  Limits bandwidths;
  std::size_t violins = 0;
  for (const Group& group : study.groups) {
    if (figure.panels.size() == kMostPanels || !go_on("distribution: " + group.title)) break;
    figure.panels.push_back(
        panel_of(group, figure.panels.size() + 1, options.threshold, bandwidths));
    violins += group.sources.size();
  }
  figure.caption =
      "Gaussian kernel densities of the relative performance of the configurations that ran "
      "correctly, reflected at both ends; bandwidth by Silverman\u2019s rule of thumb but at least "
      "0.5\u00A0% (" +
      range_text(percent_text(bandwidths.low), percent_text(bandwidths.high), " to ") +
      " here). Every violin is drawn to the same greatest thickness. The figures on the right are "
      "shares of all valid configurations, failed ones included (these are not drawn)." +
      panels_left_out(study);
  figure.counts = {{"violins", violins}, {"threshold", options.threshold}};
  section.parts.push_back(std::move(figure));
  return section;
}

}  // namespace idletune::report

// The same configurations on two devices.

#include "agent/host/report/device_pairs.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"

namespace idletune::report {
namespace {

constexpr std::size_t kMostPairs = 120;  // of one kernel
constexpr std::size_t kDrawAllUpTo = 6;  // pairs of one kernel; of more only three

// Positions of the pairs that are drawn: all, or those of highest, middle and lowest correlation.
std::vector<std::size_t> drawn(const std::vector<DevicePair>& pairs) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!pairs[i].points.empty()) order.push_back(i);
  }
  if (order.size() <= kDrawAllUpTo) return order;
  const auto value = [&](std::size_t i) {
    return std::isnan(pairs[i].rank_correlation) ? -2 : pairs[i].rank_correlation;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return value(a) > value(b); });
  return {order.front(), order[order.size() / 2], order.back()};
}

std::string correlation_text(double correlation) {
  return (correlation < 0 ? "\u2212" : "") + significant(std::fabs(correlation), 2);
}

std::string remark_of(const DevicePair& pair) {
  return counted(pair.ran_on_both, "configuration", "configurations") +
         (pair.failed_on_one > 0 ? " (" + count_text(pair.failed_on_one) + " more ran on one only)"
                                 : "") +
         ", rank correlation " + correlation_text(pair.rank_correlation) +
         ". Good on the first: " + count_text(pair.good_on_first) +
         ", on the second: " + count_text(pair.good_on_second) +
         ", on both: " + count_text(pair.good_on_both) + ".";
}

void add_row(Table& table, const Group& group, const DevicePair& pair) {
  table.rows.push_back({group.title, pair.first, pair.second, count_text(pair.ran_on_both),
                        correlation_text(pair.rank_correlation), count_text(pair.good_on_first),
                        count_text(pair.good_on_second), count_text(pair.good_on_both),
                        percent_text(pair.first_best_on_second),
                        percent_text(pair.second_best_on_first)});
}

// How good one device's best configuration is on another: `carried` in between, ascending.
std::string finding(std::vector<double> carried) {
  std::sort(carried.begin(), carried.end());
  return "The best configuration of one device has " + percent_text(quantile_of(carried, 0.5)) +
         " of the best performance on another (median over " +
         counted(carried.size(), "ordered pair", "ordered pairs") + "), and " +
         (carried.front() > 0 ? percent_text(carried.front()) : std::string("nothing that runs")) +
         " at worst.";
}

}  // namespace

Section device_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  const std::string threshold = percent_text(options.threshold);
  Figure figure(
      "scatter", "The same configurations on two devices",
      {{"corner", true, "good on both"}, {"cells d3", false, "darker: more configurations"}});
  Table table("Pairs of devices",
              {"kernel", "device A", "device B", ">ran on both", ">rank correlation", ">good on A",
               ">good on B", ">good on both", ">A\u2019s best on B", ">B\u2019s best on A"},
              /*is_folded=*/true);
  std::vector<double> carried;
  std::size_t wanted = 0;    // pictures
  std::size_t possible = 0;  // pairs
  bool cut = false;
  for (const Group& group : study.groups) {
    if (group.sources.size() < 2) continue;
    possible += group.sources.size() * (group.sources.size() - 1) / 2;
    if (!go_on("devices: " + group.title)) return {};
    const std::vector<DevicePair> pairs = pairs_of(group, options.threshold, kMostPairs);
    for (const std::size_t i : drawn(pairs)) {
      if (++wanted > kMostPanels) continue;
      const DevicePair& pair = pairs[i];
      figure.add(
          ScatterPlot{"on " + pair.first, "on " + pair.second, pair.points, options.threshold},
          group.title, "", remark_of(pair), pair.first + " against " + pair.second + ".");
    }
    cut = cut || pairs.size() > kDrawAllUpTo;
    for (const DevicePair& pair : pairs) {
      carried.insert(carried.end(), {pair.first_best_on_second, pair.second_best_on_first});
      add_row(table, group, pair);
    }
  }
  if (figure.panels.empty()) return {};  // nothing to compare
  const Paragraph lead{
      "Where the clouds run along the diagonal into the upper right corner, a good configuration "
      "of one device is a good first pick for the other. Where the corner stays empty, the best "
      "ones have to be found anew. " +
      finding(carried)};
  figure.caption =
      "Relative performance of each configuration that ran on both devices. Up to " +
      std::to_string(ScatterPlot::kMostDiscs) +
      " configurations are drawn one by one, more as counts on a grid of 70 \u00D7 70 cells in "
      "shades for 1, 2, up to 4, 8, 16 and more. The shaded corner: at least " +
      threshold + " on both.";
  if (cut)
    figure.caption +=
        " Of kernels with more than six pairs those with the highest, the middle and the lowest "
        "rank correlation are drawn; the table has the others.";
  figure.caption += left_out(figure.panels.size(), wanted, "such pictures are here");
  figure.counts.update({{"pairs", figure.panels.size()}, {"threshold", options.threshold}});
  table.caption = "Good: at least " + threshold +
                  " of the best on that device. Rank correlation: Spearman\u2019s, over "
                  "configurations that ran on both. A\u2019s best on B: the relative performance "
                  "on B of the configuration that is best on A." +
                  left_out(table.rows.size(), possible, "pairs are here");
  return {"devices", "Does one device speak for another?", {lead, figure, table}};
}

}  // namespace idletune::report

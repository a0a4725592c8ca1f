// The same configurations on two devices.

#include "agent/host/pictures/plots.hpp"
#include "agent/host/report/device_pairs.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"

namespace idletune::report {
namespace {

constexpr std::size_t kMostPairs = 120;  // of one kernel
constexpr std::size_t kDrawAllUpTo = 6;  // pairs of one kernel; of more only three
constexpr std::size_t kMostPictures = 60;

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
  if (std::isnan(correlation)) return "-";
  const std::string size = significant(std::fabs(correlation), 2);
  return correlation < 0 ? "\u2212" + size : size;
}

Figure::Panel panel_of(const Group& group, const DevicePair& pair, std::size_t number,
                       double threshold) {
  ScatterPlot plot;
  plot.x_name = "on " + pair.first;
  plot.y_name = "on " + pair.second;
  plot.threshold = threshold;
  plot.points = pair.points;
  const std::string good = "Good on the first: " + count_text(pair.good_on_first) +
                           ", on the second: " + count_text(pair.good_on_second) +
                           ", on both: " + count_text(pair.good_on_both) + ".";
  plot.caption = {"scatter-" + std::to_string(number),
                  group.title + ": " + pair.first + " against " + pair.second,
                  "Rank correlation " + correlation_text(pair.rank_correlation) + ". " + good};
  std::string remark = counted(pair.ran_on_both, "configuration", "configurations");
  if (pair.failed_on_one > 0)
    remark += " (" + count_text(pair.failed_on_one) + " more ran on one only)";
  remark += ", rank correlation " + correlation_text(pair.rank_correlation) + ". " + good;
  return {group.title, "", draw(plot), remark};
}

// How good one device's best configuration is on another.
std::string finding(const std::vector<std::pair<const Group*, DevicePair>>& pairs) {
  std::vector<double> carried;
  for (const auto& [group, pair] : pairs) {
    carried.push_back(pair.first_best_on_second);
    carried.push_back(pair.second_best_on_first);
  }
  std::sort(carried.begin(), carried.end());
  return "The best configuration of one device has " + percent_text(quantile_of(carried, 0.5)) +
         " of the best performance on another (median over " +
         counted(carried.size(), "ordered pair", "ordered pairs") + "), and " +
         (carried.front() > 0 ? percent_text(carried.front()) : std::string("nothing that runs")) +
         " at worst.";
}

Table table_of(const std::vector<std::pair<const Group*, DevicePair>>& pairs, double threshold) {
  Table table("Pairs of devices",
              {"kernel", "device A", "device B", ">ran on both", ">rank correlation", ">good on A",
               ">good on B", ">good on both", ">A\u2019s best on B", ">B\u2019s best on A"},
              /*is_folded=*/true);
  for (const auto& [group, pair] : pairs) {
    table.rows.push_back({group->title, pair.first, pair.second, count_text(pair.ran_on_both),
                          correlation_text(pair.rank_correlation), count_text(pair.good_on_first),
                          count_text(pair.good_on_second), count_text(pair.good_on_both),
                          percent_text(pair.first_best_on_second),
                          percent_text(pair.second_best_on_first)});
  }
  table.caption = "Good: at least " + percent_text(threshold) +
                  " of the best on that device. Rank correlation: Spearman\u2019s, over "
                  "configurations that ran on both. A\u2019s best on B: the relative performance "
                  "on B of the configuration that is best on A.";
  return table;
}

}  // namespace

Section device_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  Section section{"devices", "Does one device speak for another?", {}};
  std::vector<std::pair<const Group*, DevicePair>> all;
  Figure figure(
      "The same configurations on two devices",
      {{"corner", true, "good on both"}, {"cells d3", false, "darker: more configurations"}});
  std::size_t points = 0;
  std::size_t wanted = 0;    // pictures
  std::size_t possible = 0;  // pairs
  bool cut = false;
  for (const Group& group : study.groups) {
    if (group.sources.size() < 2) continue;
    possible += group.sources.size() * (group.sources.size() - 1) / 2;
    if (!go_on("devices: " + group.title)) return section;
    std::vector<DevicePair> pairs = pairs_of(group, options.threshold, kMostPairs);
    for (const std::size_t i : drawn(pairs)) {
      ++wanted;
      if (figure.panels.size() == kMostPictures) continue;
      figure.panels.push_back(
          panel_of(group, pairs[i], figure.panels.size() + 1, options.threshold));
      points += pairs[i].ran_on_both;
    }
    cut = cut || pairs.size() > kDrawAllUpTo;
    for (DevicePair& pair : pairs) {
      pair.points = {};  // the table needs their number only
      all.emplace_back(&group, std::move(pair));
    }
  }
  if (figure.panels.empty()) return section;  // nothing to compare
  section.parts.push_back(
      Paragraph{"Where the clouds run along the diagonal into the upper right corner, a good "
                "configuration of one device is a good first pick for the other. Where the corner "
                "stays empty, the best ones have to be found anew. " +
                finding(all)});
  figure.caption =
      "Relative performance of each configuration that ran on both devices. Up to " +
      std::to_string(ScatterPlot::kMostDiscs) +
      " configurations are drawn one by one, more as counts on a grid of 70 \u00D7 70 cells in "
      "shades for 1, 2, up to 4, 8, 16 and more. The shaded corner: at least " +
      percent_text(options.threshold) + " on both.";
  if (cut)
    figure.caption +=
        " Of kernels with more than six pairs those with the highest, the middle and the lowest "
        "rank correlation are drawn; the table has the others.";
  figure.caption += left_out(figure.panels.size(), wanted, "such pictures are here");
  figure.counts = {
      {"pairs", figure.panels.size()}, {"points", points}, {"threshold", options.threshold}};
  section.parts.push_back(std::move(figure));
  Table table = table_of(all, options.threshold);
  table.caption += left_out(all.size(), possible, "pairs are here");
  section.parts.push_back(std::move(table));
  return section;
}

}  // namespace idletune::report

// What searchers have found after so many evaluations, and after so much tuning time.

#include "agent/host/lab/performance_curve.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/pictures/plots.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::report {
namespace {

struct Player {
  const char* searcher;
  int series;
  const char* name;
};

constexpr Player kPlayers[] = {{"random", 1, "random search"},
                               {"forest", 2, "forest (idletune without a model)"},
                               {"annealing", 3, "simulated annealing"},
                               {"genetic", 4, "genetic algorithm"},
                               {"iterml", 5, "iterative machine learning (IterML)"}};
constexpr std::size_t kMostRepeats = 20;
constexpr std::uint64_t kMostEvaluations = 200;

struct PlayedSearches {
  const Player* player;
  std::vector<SimulatedSearch> searches;
};

Curve curve_of(const PlayedSearches& played, CurveAxis axis) {
  Curve curve;
  curve.series = played.player->series;
  for (const CurvePoint& point : performance_curve(played.searches, axis)) {
    const double at = axis == CurveAxis::tuning_ms ? point.at / 1000 : point.at;
    curve.points.push_back({at, point.mean});
    if (played.player->series > 2) continue;  // five bands hide each other
    curve.low.push_back({at, point.p10});
    curve.high.push_back({at, point.p90});
  }
  return curve;
}

// Nothing if the user asked to stop, or the searcher cannot play there.
std::optional<PlayedSearches> play(const Simulation& target, const Player& player,
                                   const ReportOptions& options, const Continue& go_on,
                                   const std::string& title) {
  PlayedSearches played{&player, {}};
  SimulationOptions simulation;
  simulation.until = 1;
  simulation.max_evaluations = kMostEvaluations;
  for (std::size_t i = 0; i < std::min(options.repeats, kMostRepeats); ++i) {
    if (!go_on("searchers: " + title)) return std::nullopt;
    auto search = target.run(player.searcher, nullptr, options.seed + i, simulation);
    if (!search.ok()) return std::nullopt;
    played.searches.push_back(std::move(*search));
  }
  return played;
}

double final_mean(const PlayedSearches& played) {
  const auto curve = performance_curve(played.searches, CurveAxis::evaluations);
  return curve.empty() ? 0 : curve.back().mean;
}

// Below all curves and the dashed line, at a multiple of a fifth: where every draw is good, the
// searchers differ in the uppermost part of the picture only.
double bottom_of(const CurvePlot& plot) {
  double lowest = plot.level;
  for (const Curve& curve : plot.curves) {
    for (const auto& point : curve.points) lowest = std::min(lowest, point.y);
  }
  return std::clamp(std::floor(lowest * 5) / 5, 0.0, 0.8);
}

Figure::Panel panel_of(const std::string& kernel, const std::string& device,
                       const std::vector<PlayedSearches>& all, CurveAxis axis, std::size_t number,
                       double threshold) {
  const bool over_time = axis == CurveAxis::tuning_ms;
  CurvePlot plot;
  plot.caption = {
      (over_time ? "searchers-time-" : "searchers-steps-") + std::to_string(number),
      kernel + " on " + device + (over_time ? ": over tuning time" : ": over evaluations"),
      "Mean of the best found after " + count_text(kMostEvaluations) + " evaluations:"};
  plot.x_name = over_time ? "seconds of tuning" : "configurations tried";
  plot.y_name = "best so far, relative to the best of all";
  plot.percentages = true;
  plot.level = threshold;
  for (const PlayedSearches& played : all) {
    plot.curves.push_back(curve_of(played, axis));
    plot.caption.description +=
        std::string(" ") + played.player->name + ", " + percent_text(final_mean(played)) + ".";
  }
  plot.y_low = bottom_of(plot);
  plot.y_high = 1;
  return {kernel, "on " + device, draw(plot), ""};
}

// Evaluations until half of the searches were there; "-": they were not.
std::string median_text(const PlayedSearches& played, double threshold, CurveAxis axis) {
  std::vector<double> all;
  for (const SimulatedSearch& search : played.searches) {
    double at = INFINITY;
    for (const ImprovedBest& improved : search.improvements) {
      if (improved.relative < threshold) continue;
      at = axis == CurveAxis::evaluations ? static_cast<double>(improved.evaluations)
                                          : improved.tuning_ms / 1000;
      break;
    }
    all.push_back(at);
  }
  const double median = summarize(all).median;
  if (!std::isfinite(median)) return "-";
  if (axis == CurveAxis::evaluations)
    return count_text(static_cast<std::uint64_t>(std::ceil(median)));
  return significant(median);
}

// Over the share of the space that was sampled: the median of the searches, and below it down to
// what 95 of 100 reach.
Curve sample_curve(const PlayedSearches& played, double space) {
  Curve curve;
  curve.series = played.player->series;
  for (std::uint64_t n = 1; n <= kMostEvaluations && static_cast<double>(n) <= space;
       n += std::max<std::uint64_t>(1, n / 12)) {
    std::vector<double> found;
    for (const SimulatedSearch& search : played.searches) {
      double best = 0;
      for (const ImprovedBest& improved : search.improvements) {
        if (improved.evaluations > n) break;
        best = improved.relative;
      }
      found.push_back(best);
    }
    std::sort(found.begin(), found.end());
    const double share = static_cast<double>(n) / space;
    curve.points.push_back({share, quantile_of(found, 0.5)});
    curve.low.push_back({share, quantile_of(found, 0.05)});
    curve.high.push_back({share, quantile_of(found, 0.5)});
  }
  return curve;
}

// The first share at which `points` are at `threshold`.
std::string share_text(const std::vector<Point>& points, double threshold) {
  for (const Point& point : points) {
    if (point.y >= threshold) return percent_text(point.x);
  }
  return "-";
}

// The random baseline and what learns; the others are in the figures above.
bool is_sampled(const Player& player) { return player.series != 3 && player.series != 4; }

Figure::Panel sample_panel(const Group& group, const Source& source,
                           const std::vector<PlayedSearches>& all, std::size_t number,
                           double threshold) {
  CurvePlot plot;
  plot.caption = {"samples-" + std::to_string(number),
                  group.title + " on " + source.device + ": over the share of the space", ""};
  plot.x_name = "share of the space that was sampled";
  plot.y_name = "best so far, relative to the best of all";
  plot.x_percentages = plot.percentages = true;
  plot.level = threshold;
  std::string remark =
      "Share for the median, and for 95 of 100, to be at " + percent_text(threshold) + ":";
  for (const PlayedSearches& played : all) {
    if (!is_sampled(*played.player)) continue;
    plot.curves.push_back(sample_curve(played, static_cast<double>(source.distribution.valid)));
    remark += std::string(" ") + played.player->name + " " +
              share_text(plot.curves.back().points, threshold) + ", " +
              share_text(plot.curves.back().low, threshold) + ".";
  }
  plot.caption.description = remark;
  plot.y_low = bottom_of(plot);
  plot.y_high = 1;
  return {group.title, "on " + source.device, draw(plot), remark};
}

// What the section draws and lists, pair by pair of kernel and device.
struct Comparison {
  Figure steps{"Best found over evaluations", legend_of(kPlayers)};
  Figure time{"Best found over tuning time", legend_of(kPlayers)};
  Figure samples{"Best found over the share of the space that was sampled"};
  std::size_t sampled = 0;  // curves of `samples`
  Table table{"Searchers side by side",
              {"kernel", "device", "searcher", ">evaluations", ">tuning seconds", ">found at last"},
              /*is_folded=*/true};
};

void add(Comparison& comparison, const Group& group, const Source& source,
         const std::vector<PlayedSearches>& all, double threshold) {
  const std::size_t number = comparison.steps.panels.size() + 1;
  for (const CurveAxis axis : {CurveAxis::evaluations, CurveAxis::tuning_ms}) {
    (axis == CurveAxis::evaluations ? comparison.steps : comparison.time)
        .panels.push_back(panel_of(group.title, source.device, all, axis, number, threshold));
  }
  comparison.samples.panels.push_back(sample_panel(group, source, all, number, threshold));
  for (const PlayedSearches& played : all) {
    comparison.sampled += is_sampled(*played.player) ? 1 : 0;
    comparison.table.rows.push_back({group.title, source.device, played.player->name,
                                     median_text(played, threshold, CurveAxis::evaluations),
                                     median_text(played, threshold, CurveAxis::tuning_ms),
                                     percent_text(final_mean(played))});
  }
}

std::string caption(std::size_t repeats, double threshold, std::size_t targets) {
  std::string mean = "The mean over " + counted(repeats, "simulated search", "simulated searches") +
                     " of the best configuration found so far, from a first draw to " +
                     count_text(kMostEvaluations) +
                     " evaluations. Dashed: " + percent_text(threshold) +
                     ". Shaded, for random search and the forest: where eight of ten searches are. "
                     "The vertical axes begin below the curves, not always at 0 %.";
  return mean + left_out(kMostPanels, targets, "pairs of kernel and device are drawn");
}

}  // namespace

Section searcher_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  Section section{"searchers", "Which searcher gets there first", {}};
  Comparison compared;
  Figure& steps = compared.steps;
  Figure& time = compared.time;
  Table& table = compared.table;
  compared.samples.legend = {steps.legend[0], steps.legend[1], steps.legend[4]};
  std::size_t targets = 0;
  for (const Group& group : study.groups) {
    for (const Source& source : group.sources) {
      const auto target = Simulation::of(*source.history);
      if (!target.ok()) continue;
      ++targets;
      if (steps.panels.size() == kMostPanels) continue;
      std::vector<PlayedSearches> all;
      for (const Player& player : kPlayers) {
        auto played = play(*target, player, options, go_on, group.title + " on " + source.device);
        if (!go_on("searchers")) return section;
        if (played) all.push_back(std::move(*played));
      }
      if (all.empty()) continue;
      add(compared, group, source, all, options.threshold);
    }
  }
  const std::size_t repeats = std::min(options.repeats, kMostRepeats);
  const std::string mean = caption(repeats, options.threshold, targets);
  steps.caption = mean;
  time.caption =
      mean + " Each evaluation is charged its compile time, where it was recorded, and two runs.";
  steps.counts =
      time.counts = {{"curves", table.rows.size()}, {"repeats", repeats}, {"seed", options.seed}};
  table.caption = "Evaluations and tuning seconds: in the median, until a search found " +
                  percent_text(options.threshold) + ". Found at last: mean after " +
                  count_text(kMostEvaluations) + " evaluations.";
  section.parts.push_back(
      Paragraph{"No searcher knows anything of other devices here: all begin with random draws. "
                "What they make of the first measurements is the difference."});
  section.parts.push_back(std::move(compared.steps));
  section.parts.push_back(std::move(compared.time));
  compared.samples.counts = {{"curves", compared.sampled}};
  compared.samples.caption =
      "The sample-ratio plot of Cui & Feng 2019 (figure 6): lines are medians over the same "
      "searches, shaded down to what 95 of 100 reach. Their standard 1 is where the line crosses "
      "the dashed one, standard 2 where the shade does.";
  section.parts.push_back(std::move(compared.samples));
  section.parts.push_back(std::move(compared.table));
  return section;
}

}  // namespace idletune::report

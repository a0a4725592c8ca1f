// What searchers have found after so many evaluations, and after so much tuning time.

#include "agent/host/lab/performance_curve.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::report {
namespace {

struct Player {
  const char* searcher;
  int series;
  const char* name;
  bool sampled;  // drawn over the share of the space, too: the random baseline and what learns
};

constexpr Player kPlayers[] = {{"random", 1, "random search", true},
                               {"forest", 2, "forest (idletune without a model)", true},
                               {"annealing", 3, "simulated annealing", false},
                               {"iterml", 4, "iterative machine learning (IterML)", true}};
constexpr std::size_t kMostRepeats = 20;
constexpr std::uint64_t kMostEvaluations = 200;

struct PlayedSearches {
  const Player* player;
  std::vector<SimulatedSearch> searches;
  std::vector<CurvePoint> curve(CurveAxis axis) const { return performance_curve(searches, axis); }
};

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

std::string final_mean(const PlayedSearches& played) {
  const auto curve = played.curve(CurveAxis::evaluations);
  return percent_text(curve.empty() ? 0 : curve.back().mean);
}

// Over evaluations, or over seconds of tuning.
Curve curve_of(const PlayedSearches& played, CurveAxis axis) {
  Curve curve{played.player->series};
  for (const CurvePoint& point : played.curve(axis)) {
    const double at = axis == CurveAxis::tuning_ms ? point.at / 1000 : point.at;
    curve.add(at, point.mean);
    if (curve.series <= 2) curve.add_band(at, point.p10, point.p90);  // four would hide each other
  }
  return curve;
}

// Over the share of the space that was sampled: the median of the searches, and below it down to
// what 95 of 100 reach.
Curve sample_curve(const PlayedSearches& played, double space) {
  Curve curve{played.player->series};
  for (std::uint64_t n = 1; n <= kMostEvaluations && static_cast<double>(n) <= space;
       n += std::max<std::uint64_t>(1, n / 12)) {
    std::vector<double> found(played.searches.size(), 0);
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (const ImprovedBest& improved : played.searches[i].improvements) {
        if (improved.evaluations <= n) found[i] = improved.relative;
      }
    }
    std::sort(found.begin(), found.end());
    const double share = static_cast<double>(n) / space;
    const double median = quantile_of(found, 0.5);
    curve.add(share, median);
    curve.add_band(share, quantile_of(found, 0.05), median);
  }
  return curve;
}

// The axis begins below all curves and the dashed line, at a multiple of a fifth: where every draw
// is good, the searchers differ in the uppermost part of the picture only.
CurvePlot plot_of(const Axis& x, const std::vector<Curve>& curves, double threshold) {
  Limits shown;
  shown.include(threshold);
  for (const Curve& curve : curves) {
    for (const Point& point : curve.points) shown.include(point.y);
  }
  const double bottom = std::clamp(std::floor(shown.low * 5) / 5, 0.0, 0.8);
  const Axis y{"best so far, relative to the best of all", Axis::shares, bottom, 1};
  return {x, y, curves, threshold};
}

// Evaluations or seconds until half of the searches were there; "-": they were not.
std::string median_text(const PlayedSearches& played, double threshold, CurveAxis axis) {
  const bool steps = axis == CurveAxis::evaluations;
  std::vector<double> all;
  for (const SimulatedSearch& search : played.searches) {
    const auto there =
        std::find_if(search.improvements.begin(), search.improvements.end(),
                     [&](const ImprovedBest& best) { return best.relative >= threshold; });
    all.push_back(there == search.improvements.end() ? INFINITY
                  : steps                            ? static_cast<double>(there->evaluations)
                                                     : there->tuning_ms / 1000);
  }
  const double median = summarize(all).median;
  return steps ? mean_count_text(std::ceil(median)) : significant(median);
}

// The first share at which `points` are at `threshold`.
std::string share_text(const std::vector<Point>& points, double threshold) {
  for (const Point& point : points) {
    if (point.y >= threshold) return percent_text(point.x);
  }
  return "-";
}

// What the section draws and lists, pair by pair of kernel and device.
struct Comparison {
  Figure steps{"searchers-steps", "Best found over evaluations", legend_of(kPlayers)};
  Figure time{"searchers-time", "Best found over tuning time", legend_of(kPlayers)};
  Figure samples{"samples", "Best found over the share of the space that was sampled"};
  Table table{"Searchers side by side",
              {"kernel", "device", "searcher", ">evaluations", ">tuning seconds", ">found at last"},
              /*is_folded=*/true};
};

void add(Comparison& compared, const Pair& at, const std::vector<PlayedSearches>& all,
         double threshold) {
  const std::string& title = at.group->title;
  const std::string& device = at.source->device;
  const auto space = static_cast<double>(at.source->history->valid_rows().size());
  std::vector<Curve> steps, time, samples;
  std::string said =
      "Mean of the best found after " + count_text(kMostEvaluations) + " evaluations:";
  std::string remark =
      "Share for the median, and for 95 of 100, to be at " + percent_text(threshold) + ":";
  for (const PlayedSearches& played : all) {
    const std::string name = played.player->name;
    steps.push_back(curve_of(played, CurveAxis::evaluations));
    time.push_back(curve_of(played, CurveAxis::tuning_ms));
    said += " " + name + ", " + final_mean(played) + ".";
    compared.table.rows.push_back(
        {title, device, name, median_text(played, threshold, CurveAxis::evaluations),
         median_text(played, threshold, CurveAxis::tuning_ms), final_mean(played)});
    if (!played.player->sampled) continue;
    samples.push_back(sample_curve(played, space));
    remark += " " + name + " " + share_text(samples.back().points, threshold) + ", " +
              share_text(samples.back().low, threshold) + ".";
  }
  const auto plot = [&](const char* x, std::vector<Curve> curves) {
    return plot_of({x, Axis::logarithmic}, std::move(curves), threshold);
  };
  compared.steps.add(plot("configurations tried", steps), title, "on " + device, "", said);
  compared.time.add(plot("seconds of tuning", time), title, "on " + device, "", said);
  compared.samples.add(plot_of({"share of the space that was sampled", Axis::logarithmic_shares},
                               samples, threshold),
                       title, "on " + device, remark);
}

}  // namespace

Section searcher_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  Comparison compared;
  auto& [steps, time, samples, table] = compared;
  for (std::size_t i = 0; i < std::size(kPlayers); ++i)
    if (kPlayers[i].sampled) samples.legend.push_back(steps.legend[i]);
  std::size_t targets = 0;
  for (const Pair& at : study.pairs()) {
    const auto target = Simulation::of(*at.source->history);
    if (!target.ok() || ++targets > kMostPanels) continue;
    std::vector<PlayedSearches> all;
    for (const Player& player : kPlayers) {
      auto played = play(*target, player, options, go_on, at.name());
      if (!go_on("searchers")) return {};
      if (played) all.push_back(std::move(*played));
    }
    if (!all.empty()) add(compared, at, all, options.threshold);
  }
  const std::size_t repeats = std::min(options.repeats, kMostRepeats);
  const std::string threshold = percent_text(options.threshold);
  const std::string evaluations = count_text(kMostEvaluations);
  steps.caption =
      "The mean over " + counted(repeats, "simulated search", "simulated searches") +
      " of the best configuration found so far, from a first draw to " + evaluations +
      " evaluations. Dashed: " + threshold +
      ". Shaded, for random search and the forest: where eight of ten searches are. The vertical "
      "axes begin below the curves, not always at 0 %." +
      left_out(kMostPanels, targets, "pairs of kernel and device are drawn");
  time.caption =
      steps.caption +
      " Each evaluation is charged its compile time, where it was recorded, and two runs.";
  samples.caption =
      "The sample-ratio plot of Cui & Feng 2019 (figure 6): lines are medians over the same "
      "searches, shaded down to what 95 of 100 reach. Their standard 1 is where the line crosses "
      "the dashed one, standard 2 where the shade does.";
  for (Figure* figure : {&steps, &time})
    figure->counts.update({{"repeats", repeats}, {"seed", options.seed}});
  table.caption = "Evaluations and tuning seconds: in the median, until a search found " +
                  threshold + ". Found at last: mean after " + evaluations + " evaluations.";
  const Paragraph lead{
      "No searcher knows anything of other devices here: all begin with random draws. What they "
      "make of the first measurements is the difference."};
  return {"searchers", "Which searcher gets there first", {lead, steps, time, samples, table}};
}

}  // namespace idletune::report

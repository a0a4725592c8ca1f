// Total time of an application under policies of tuning, over its number of launches.

#include <idletune/learning.hpp>

#include "agent/host/lab/held_out_model.hpp"
#include "agent/host/lab/known_kernel.hpp"
#include "agent/host/lab/regret/regret_summary.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::report {
namespace {

using regret::Policy;
using regret::RegretPoint;

constexpr double kHighest = 1.6;  // of the axis: total time relative to never tuning

struct PolicyLine {
  Policy policy;
  int series;
  const char* name;
};

constexpr PolicyLine kPolicies[] = {
    {Policy::always, 3, "random search through the whole space first"},
    {Policy::ktt, 4, "every configuration once, then the best"},
    {Policy::limit, 7, "limit: the best configuration from the first launch on"},
    {Policy::clairvoyant, 1, "clairvoyant: the same steps, stopped at the best moment"},
    {Policy::idletune, 2, "idletune"}};

double relative(const RegretPoint& point, Policy policy) {
  return point.total_ms[policy].mean / point.total_ms[Policy::never].mean;
}

struct Played {
  Pair target;
  bool has_model = false;
  std::vector<RegretPoint> points;

  // The first number of launches from which on the condition holds; nothing if it never does.
  template <class Holds>
  std::optional<double> from_launches(const Holds& holds) const {
    std::optional<double> from;
    for (auto point = points.rbegin(); point != points.rend() && holds(*point); ++point)
      from = point->launches;
    return from;
  }
  std::optional<double> break_even() const {
    return from_launches([](const RegretPoint& p) { return p.captured_gain.has_value(); });
  }
  std::optional<double> pays(Policy policy) const {
    return from_launches([&](const RegretPoint& p) { return relative(p, policy) < 1; });
  }
};

// Nothing where the device cannot be played, or if the user asked to stop.
std::optional<Played> play(const Study& study, const Pair& at, const ReportOptions& options,
                           const Continue& go_on) {
  const History& history = *at.source->history;
  const auto target = regret::RegretTarget::of(history);
  if (!target.ok()) return std::nullopt;
  std::shared_ptr<const Model> model = options.model;
  if (!model) {  // of what the page has of the kernel on other devices; null where that is nothing
    std::vector<const History*> training;
    for (const Pair& pair : study.pairs()) training.push_back(pair.source->history);
    auto learned = learn_held_out(history, without_device_of(history, training));
    if (learned.ok()) model = std::move(*learned);
  }
  const auto kernel = known_kernel(model, history, target->space()).model;
  Played played{at, kernel != nullptr, {}};
  std::vector<std::vector<regret::Application>> per_launches;
  regret::RegretOptions regret_options;
  regret_options.learner = forest_learner();
  for (std::size_t i = 0; i < options.seeds; ++i) {
    if (!go_on("regret: " + at.name())) return std::nullopt;
    const auto applications =
        regret::play_applications(*target, kernel, regret_options, options.seed + i);
    if (!applications.ok()) return std::nullopt;
    per_launches.resize(applications->size());
    for (std::size_t n = 0; n < applications->size(); ++n)
      per_launches[n].push_back((*applications)[n]);
  }
  for (const auto& applications : per_launches)
    played.points.push_back(regret::point_of(applications));
  return played;
}

std::string remark_of(const Played& played) {
  const auto even = played.break_even();
  const auto pays = played.pays(Policy::idletune);
  const auto exhaustive = played.pays(Policy::always);
  const RegretPoint& last = played.points.back();
  return (even ? "A search that knew every time beforehand would pay from " + count_or_never(even) +
                     " launches on"
               : "No search could pay here, not even one that knew every time beforehand") +
         (pays ? "; idletune\u2019s pays from " + count_or_never(pays)
               : "; idletune\u2019s does not pay up to here") +
         "; an exhaustive search pays " + (exhaustive ? "from " : "") + count_or_never(exhaustive) +
         ". At " + axis_text(last.launches) +
         " launches: " + percent_text(relative(last, Policy::idletune)) +
         " of the time of never tuning, the limit is " +
         percent_text(relative(last, Policy::limit)) + "." +
         (played.has_model ? "" : " No model: the start is a random configuration.");
}

void add_panel(Figure& figure, const Played& played) {
  CurvePlot plot;
  plot.level = 1;
  double low = 1;
  for (const PolicyLine& line : kPolicies) {
    Curve curve{line.series};
    for (const RegretPoint& point : played.points) {
      const double y = relative(point, line.policy);
      if (!std::isfinite(y)) continue;
      curve.add(point.launches, y);
      if (line.policy == Policy::idletune) {
        // The others hardly differ from seed to seed.
        const double never = point.total_ms[Policy::never].mean;
        const double deviation = point.total_ms[Policy::idletune].deviation / never;
        curve.add_band(point.launches, std::max(y - deviation, y / 10), y + deviation);
      }
      // Before that, compilations decide, and some configurations compile much faster than others.
      if (point.launches >= 1000) low = std::min(low, y);
    }
    plot.curves.push_back(std::move(curve));
  }
  plot.x = {"launches of the kernel", Axis::logarithmic};
  plot.y = {"total time relative to never tuning", Axis::logarithmic_shares,
            std::max(low * 0.93, 0.02), kHighest};
  if (const auto even = played.break_even()) plot.marks = {{*even, "perfect search pays"}};
  figure.add(plot, played.target.group->title, "on " + played.target.source->device,
             remark_of(played));
}

void add_row(Table& table, const Played& played, const RegretPoint& worst) {
  const RegretPoint& last = played.points.back();
  table.rows.push_back(
      {played.target.group->title, played.target.source->device,
       count_or_never(played.break_even()), count_or_never(played.pays(Policy::idletune)),
       count_or_never(played.pays(Policy::always)),
       worst.loss > 0 ? percent_text(worst.loss) : "none",
       worst.loss > 0 ? axis_text(worst.launches) : "-",
       last.captured_gain ? percent_text(*last.captured_gain) : "-", significant(last.steps, 3)});
}

}  // namespace

Section regret_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  Figure figure("regret", "Total time under different policies", legend_of(kPolicies));
  Table table("Break-even points",
              {"kernel", "device", ">a perfect search pays from", ">idletune pays from",
               ">an exhaustive search pays from", ">worst loss", ">at launches",
               ">gain captured at the end", ">steps at the end"},
              /*is_folded=*/true);
  std::size_t looked = 0;
  double most_lost = 0;
  for (const Pair& target : study.pairs()) {
    if (figure.panels.size() == kMostPanels) break;
    ++looked;
    const auto played = play(study, target, options, go_on);
    if (!go_on("regret: " + target.group->title)) return {};
    if (!played) continue;
    const auto& points = played->points;
    const auto worst = std::max_element(
        points.begin(), points.end(), [](const auto& a, const auto& b) { return a.loss < b.loss; });
    most_lost = std::max(most_lost, worst->loss);
    add_panel(figure, *played);
    add_row(table, *played, *worst);
    figure.counts["launches"] = points.size();
  }
  if (figure.panels.empty())
    return {"regret",
            "Does tuning pay?",
            {Paragraph{"No history here can be played back as an application."}}};
  const Paragraph lead{
      "An application that launches a kernel a few times should not tune it; one that launches it "
      "for days should. Below the dashed line tuning has paid for itself, all its compilations and "
      "trials included." +
      (most_lost > 0 ? " The most that tuning cost over never tuning, in the mean over seeds, is " +
                           percent_text(most_lost) + " of the total time."
                     : " In nothing on this page did tuning cost more than it saved.")};
  figure.caption =
      "An application with that many launches, played on the recorded run and compile times; total "
      "time relative to running the first pick for ever, mean over " +
      counted(options.seeds, "seed", "seeds") + " from " + count_text(options.seed) +
      " on. Lines are cut off above " + percent_text(kHighest) +
      ", and below where they matter to fewer than 1,000 launches only. First picks are of " +
      (options.model ? "the given model, which may have seen the device."
                     : "a model learned from the kernel\u2019s other devices.") +
      " The dotted vertical line is the break-even point: from there on the clairvoyant saves at "
      "least 1\u00A0%." +
      pairs_left_out(study, looked, "played");
  figure.counts.update(
      {{"targets", figure.panels.size()}, {"seeds", options.seeds}, {"seed", options.seed}});
  table.caption =
      "Launches are of the grid 1, 3, 10, 30 \u2026 A perfect search pays: the clairvoyant, who "
      "knows every time, saves at least 1\u00A0% of never tuning. Worst loss: the most that "
      "idletune\u2019s mean total time is above never tuning. Gain captured: (never \u2212 "
      "idletune) / (never \u2212 clairvoyant).";
  return {"regret", "Does tuning pay?", {lead, figure, table}};
}

}  // namespace idletune::report

// Total time of an application under policies of tuning, over its number of launches.

#include <idletune/learning.hpp>

#include "agent/host/lab/held_out_model.hpp"
#include "agent/host/lab/regret/regret_summary.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/pictures/plots.hpp"
#include "agent/host/pictures/scale.hpp"
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

struct Played {
  const Group* group;
  const Source* target;
  std::string title;
  bool has_model = false;
  std::vector<RegretPoint> points;
};

// A model of what the page has of the kernel on other devices; null where that is nothing.
std::shared_ptr<const Model> model_without(const Study& study, const Source& target) {
  std::vector<const History*> training;
  for (const Group& group : study.groups) {
    for (const Source& source : group.sources) training.push_back(source.history);
  }
  auto model = learn_held_out(*target.history, without_device_of(*target.history, training));
  return model.ok() ? std::move(*model) : nullptr;
}

// Nothing where the device cannot be played, or if the user asked to stop.
std::optional<Played> play(const Study& study, const Group& group, const Source& source,
                           const ReportOptions& options, const Continue& go_on) {
  const auto target = regret::RegretTarget::of(*source.history);
  if (!target.ok()) return std::nullopt;
  const auto model = options.model ? options.model : model_without(study, source);
  const auto kernel = KernelModel::of(model, group.kernel, target->space());
  Played played{&group, &source, group.title + " on " + source.device, kernel != nullptr, {}};
  std::vector<std::vector<regret::Application>> per_launches;
  regret::RegretOptions regret_options;
  regret_options.learner = forest_learner();
  for (std::size_t i = 0; i < options.seeds; ++i) {
    if (!go_on("regret: " + played.title)) return std::nullopt;
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

// The first number of launches from which on the condition holds; nothing if it never does.
template <class Holds>
std::optional<double> from_launches(const std::vector<RegretPoint>& points, const Holds& holds) {
  std::optional<double> from;
  for (auto point = points.rbegin(); point != points.rend() && holds(*point); ++point) {
    from = point->launches;
  }
  return from;
}

double relative(const RegretPoint& point, Policy policy) {
  return point.total_ms[policy].mean / point.total_ms[Policy::never].mean;
}

std::optional<double> break_even(const Played& played) {
  return from_launches(played.points,
                       [](const RegretPoint& p) { return p.captured_gain.has_value(); });
}

std::optional<double> pays(const Played& played, Policy policy) {
  return from_launches(played.points,
                       [&](const RegretPoint& p) { return relative(p, policy) < 1; });
}

Figure::Panel panel_of(const Played& played, std::size_t number) {
  CurvePlot plot;
  plot.caption = {"regret-" + std::to_string(number), played.title + ": total time", ""};
  plot.x_name = "launches of the kernel";
  plot.y_name = "total time relative to never tuning";
  plot.logarithmic_y = true;
  plot.percentages = true;
  plot.level = 1;
  double low = 1;
  for (const PolicyLine& line : kPolicies) {
    Curve curve;
    curve.series = line.series;
    for (const RegretPoint& point : played.points) {
      const double y = relative(point, line.policy);
      if (!std::isfinite(y)) continue;
      curve.points.push_back({point.launches, y});
      if (line.policy == Policy::idletune) {
        // The others hardly differ from seed to seed.
        const double never = point.total_ms[Policy::never].mean;
        const double deviation = point.total_ms[Policy::idletune].deviation / never;
        curve.low.push_back({point.launches, std::max(y - deviation, y / 10)});
        curve.high.push_back({point.launches, y + deviation});
      }
      // Before that, compilations decide, and some configurations compile much faster than others.
      if (point.launches >= 1000) low = std::min(low, y);
    }
    plot.curves.push_back(std::move(curve));
  }
  plot.y_low = std::max(low * 0.93, 0.02);
  plot.y_high = kHighest;
  const auto even = break_even(played);
  if (even) plot.marks.push_back({*even, "a perfect search pays"});
  const RegretPoint& last = played.points.back();
  std::string remark =
      even ? "A search that knew every time beforehand would pay from " + count_or_never(even) +
                 " launches on"
           : "No search could pay here, not even one that knew every time beforehand";
  remark += pays(played, Policy::idletune)
                ? "; idletune\u2019s pays from " + count_or_never(pays(played, Policy::idletune))
                : std::string("; idletune\u2019s does not pay up to here");
  remark += "; an exhaustive search pays " +
            (pays(played, Policy::always) ? "from " + count_or_never(pays(played, Policy::always))
                                          : std::string("never")) +
            ". At " + axis_text(last.launches) +
            " launches: " + percent_text(relative(last, Policy::idletune)) +
            " of the time of never tuning, the limit is " +
            percent_text(relative(last, Policy::limit)) + ".";
  if (!played.has_model) remark += " No model: the start is a random configuration.";
  plot.caption.description = remark;
  return {played.group->title, "on " + played.target->device, draw(plot), remark};
}

Table table_of(const std::vector<Played>& all) {
  Table table("Break-even points",
              {"kernel", "device", ">a perfect search pays from", ">idletune pays from",
               ">an exhaustive search pays from", ">worst loss", ">at launches",
               ">gain captured at the end", ">steps at the end"},
              /*is_folded=*/true);
  for (const Played& played : all) {
    const auto worst = std::max_element(
        played.points.begin(), played.points.end(),
        [](const RegretPoint& a, const RegretPoint& b) { return a.loss < b.loss; });
    const RegretPoint& last = played.points.back();
    table.rows.push_back(
        {played.group->title, played.target->device, count_or_never(break_even(played)),
         count_or_never(pays(played, Policy::idletune)),
         count_or_never(pays(played, Policy::always)),
         worst->loss > 0 ? percent_text(worst->loss) : "none",
         worst->loss > 0 ? axis_text(worst->launches) : "-",
         last.captured_gain ? percent_text(*last.captured_gain) : "-", significant(last.steps, 3)});
  }
  table.caption =
      "Launches are of the grid 1, 3, 10, 30 \u2026 A perfect search pays: the clairvoyant, who "
      "knows every time, saves at least 1\u00A0% of never tuning. Worst loss: the most that "
      "idletune\u2019s mean total time is above never tuning. Gain captured: (never \u2212 "
      "idletune) / (never \u2212 clairvoyant).";
  return table;
}

std::string finding(const std::vector<Played>& all) {
  double worst = -std::numeric_limits<double>::infinity();
  for (const Played& played : all) {
    for (const RegretPoint& point : played.points) worst = std::max(worst, point.loss);
  }
  if (worst <= 0) return " In nothing on this page did tuning cost more than it saved.";
  return " The most that tuning cost over never tuning, in the mean over seeds, is " +
         percent_text(worst) + " of the total time.";
}

}  // namespace

Section regret_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  Section section{"regret", "Does tuning pay?", {}};
  Figure figure("Total time under different policies", legend_of(kPolicies));
  std::vector<Played> all;
  std::size_t looked = 0;
  for (const Group& group : study.groups) {
    for (const Source& source : group.sources) {
      if (all.size() == kMostPanels) break;
      ++looked;
      auto played = play(study, group, source, options, go_on);
      if (!go_on("regret: " + group.title)) return section;
      if (played) all.push_back(std::move(*played));
    }
  }
  if (all.empty()) {
    section.parts.push_back(Paragraph{"No history here can be played back as an application."});
    return section;
  }
  for (const Played& played : all)
    figure.panels.push_back(panel_of(played, figure.panels.size() + 1));
  section.parts.push_back(
      Paragraph{"An application that launches a kernel a few times should not tune it; one that "
                "launches it for days should. Below the dashed line tuning has paid for itself, "
                "all its compilations and trials included." +
                finding(all)});
  figure.caption =
      "An application with that many launches, played on the recorded run and compile times; total "
      "time relative to running the first pick for ever, mean over " +
      counted(options.seeds, "seed", "seeds") + " from " + count_text(options.seed) +
      " on. Lines are cut off above " + percent_text(kHighest) +
      ", and below where they matter to fewer than 1,000 launches only. " +
      (options.model
           ? std::string("First picks are of the given model, which may have seen the device.")
           : std::string(
                 "First picks are of a model learned from the kernel\u2019s other devices.")) +
      " The dotted vertical line is the break-even point: from there on the clairvoyant saves at "
      "least 1\u00A0%.";
  figure.caption += left_out(looked, study.source_count(), "pairs of kernel and device are played");
  figure.counts = {{"targets", all.size()},
                   {"launches", all.front().points.size()},
                   {"seeds", options.seeds},
                   {"seed", options.seed}};
  section.parts.push_back(std::move(figure));
  section.parts.push_back(table_of(all));
  return section;
}

}  // namespace idletune::report

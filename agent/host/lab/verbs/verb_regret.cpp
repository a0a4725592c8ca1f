// idletune lab regret T...: total time of tuning policies on recorded devices.

#include <idletune/learning.hpp>

#include "agent/api/model_file.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/lab/held_out_model.hpp"
#include "agent/host/lab/known_kernel.hpp"
#include "agent/host/lab/regret/regret_summary.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/lab/verbs/played_targets.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::cli {
namespace {

using regret::Application;
using regret::Policy;
using regret::RegretCurve;
using regret::RegretPoint;
using regret::RegretSummary;
using regret::RegretTarget;
using regret::Start;

constexpr Start kStarts[] = {Start::first_pick, Start::random, Start::median};

struct RegretArguments {
  std::vector<std::string> targets;
  std::string model;
  std::vector<std::string> training;
  std::vector<std::string> starts{"first_pick"};
  bool leave_one_out = false;
  bool emulated = false;
  bool shuffle = false;
  std::size_t rows = 0;  // 0: all
  std::string ledger = "on";
  std::string learner = "forest";
  std::size_t seeds = 10;
  std::uint64_t seed = 1;
  regret::RegretOptions options;
};

struct Target : PlayedTarget<RegretTarget> {
  std::vector<const History*> training;  // of other devices; with --leave-one-out
};

// The applications of one seed, one for each number of launches.
struct PlayedSeed {
  std::vector<Application> applications;
  bool has_model = false;
  std::string no_first_pick;
};

// One curve: a target from one start, all its seeds.
struct Series {
  const Target* target = nullptr;
  Start start = Start::first_pick;
  std::vector<PlayedSeed> seeds;  // finished ones
};

KnownKernel known(const Target& target, const std::shared_ptr<const Model>& model) {
  return known_kernel(model, *target.history, target.recorded->space());
}

bool learns_for_each_seed(const RegretArguments& arguments) {
  return arguments.shuffle || arguments.rows > 0;
}

// A model of a sample of the target's training histories, or with their results dealt anew.
Result<std::shared_ptr<const Model>> learn_for_seed(const Target& target, std::uint64_t seed,
                                                    const RegretArguments& arguments) {
  std::vector<History> changed;
  changed.reserve(target.training.size());
  for (const History* history : target.training) {
    const std::uint64_t of_history = seed * 1000 + changed.size();
    changed.push_back(
        arguments.rows > 0 ? regret::sampled_rows(*history, arguments.rows, of_history) : *history);
    if (arguments.shuffle) changed.back() = regret::shuffled_results(changed.back(), of_history);
  }
  return learn_held_out(*target.history, pointers_to(changed));
}

// What the applications really began with.
std::string begins_with(const RegretCurve& curve) {
  if (curve.start == Start::median) return "the median configuration";
  if (curve.start == Start::random) return "a random configuration";
  return curve.no_first_pick.empty()
             ? "the model's first pick"
             : "a random configuration for want of a first pick (" + curve.no_first_pick + ")";
}

json result_of(const RegretCurve& curve, const RegretPoint& point) {
  json total = json::object();
  json spread = json::object();
  for (std::size_t i = 0; i < regret::kPolicyCount; ++i) {
    const auto policy = static_cast<Policy>(i);
    const regret::Spread& values = point.total_ms[policy];
    total[policy_name(policy)] = values.mean;
    spread[policy_name(policy)] = {
        {"min", values.min}, {"max", values.max}, {"deviation", values.deviation}};
  }
  json object = IDLETUNE_FIELDS(point, launches, seeds, loss, excess, excess_no_ledger,
                                excess_absolute, tuning_ms, final_relative, overdrawn_ms, reason,
                                captured_gain, captured_gain_ledger, captured_gain_no_ledger);
  object.update(IDLETUNE_FIELDS(curve, target, kernel, device, shape));
  return joined(object,
                {{"model", curve.has_model},
                 {"learned_from", curve.seen},
                 {"no_first_pick", or_null(!curve.no_first_pick.empty(), curve.no_first_pick)},
                 {"start", start_name(curve.start)},
                 {"total_ms", total},
                 {"spread_ms", spread},
                 {"worst_seed_loss", point.worst_loss},
                 {"steps",
                  {{"idletune", point.steps},
                   {"idletune_no_ledger", point.steps_no_ledger},
                   {"clairvoyant", point.clairvoyant_steps},
                   {"clairvoyant_ledger", point.clairvoyant_ledger_steps}}},
                 {"verdict", verdict_name(point.verdict)}});
}

json place_of(const RegretCurve& curve, const RegretPoint& point, double value) {
  return {{"value", value},
          {"target", curve.target},
          {"launches", point.launches},
          {"verdict", verdict_name(point.verdict)},
          {"reason", point.reason}};
}

json json_of(const RegretSummary& summary, const std::vector<RegretCurve>& curves) {
  const RegretCurve& worst = curves[summary.worst_curve];
  const RegretCurve& excess = curves[summary.worst_excess_curve];
  return {{"start", start_name(curves.front().start)},
          {"targets", summary.targets},
          {"points", summary.points},
          {"excess", summary.mean_excess},
          {"excess_no_ledger", summary.mean_excess_no_ledger},
          {"excess_absolute", summary.mean_excess_absolute},
          {"captured_gain", or_null(summary.mean_captured_gain)},
          {"captured_gain_ledger", or_null(summary.mean_captured_gain_ledger)},
          {"captured_gain_no_ledger", or_null(summary.mean_captured_gain_no_ledger)},
          {"worst_loss", place_of(worst, worst.points[summary.worst_point], summary.worst_loss)},
          {"worst_excess",
           place_of(excess, excess.points[summary.worst_excess_point], summary.worst_excess)}};
}

std::string percent(const std::optional<double>& share) {
  return share ? report::percent_text(*share) : "-";
}

std::string seconds(double ms) { return report::significant(ms / 1e3); }

void print_curve(const RegretCurve& curve, const CliContext& context) {
  context.print("");
  const std::string begins = begins_with(curve);
  const bool said = begins.find("no model") != std::string::npos;
  context.print_paragraph(curve.kernel + (curve.shape == "-" ? "" : " " + curve.shape) + " on " +
                          curve.device + (curve.seen ? " *" : "") + ", starting with " + begins +
                          (curve.has_model || said ? "" : " (no model)") + "; total times in s");
  TextTable table({">launches", ">never tune", ">first pick", ">always", ">KTT", ">idletune", ">+-",
                   ">clairvoyant", ">limit", ">vs never", ">vs clairv.", ">captured", ">steps",
                   ">clairv. steps", "verdict"});
  for (const RegretPoint& point : curve.points) {
    const auto mean = [&](Policy policy) { return seconds(point.total_ms[policy].mean); };
    using report::change_text;
    using report::mean_count_text;
    table.add_row({mean_count_text(point.launches), mean(Policy::never), mean(Policy::first_pick),
                   mean(Policy::always), mean(Policy::ktt), mean(Policy::idletune),
                   seconds(point.total_ms[Policy::idletune].deviation), mean(Policy::clairvoyant),
                   mean(Policy::limit), change_text(point.loss), change_text(point.excess_absolute),
                   percent(point.captured_gain), mean_count_text(point.steps),
                   mean_count_text(point.clairvoyant_steps), verdict_name(point.verdict)});
  }
  context.print(table);
}

void print_summary(const RegretSummary& summary, const std::vector<RegretCurve>& curves,
                   const RegretArguments& arguments, const CliContext& context) {
  const RegretCurve& worst = curves[summary.worst_curve];
  const RegretPoint& point = worst.points[summary.worst_point];
  const std::string ledger = arguments.ledger == "on" ? "with the ledger" : "without a ledger";
  using report::change_text;
  using report::counted;
  context.print("");
  context.print_paragraph("Start " + std::string(start_name(curves.front().start)) + ", " +
                          counted(summary.targets, "target", "targets") + ", " +
                          counted(summary.points, "point", "points") + " of " +
                          counted(point.seeds, "seed", "seeds") + ":");
  context.print_paragraph("  above the clairvoyant on average: ",
                          change_text(summary.mean_excess) + " (" + ledger + " both), " +
                              change_text(summary.mean_excess_absolute) +
                              " (clairvoyant without one), " +
                              change_text(summary.mean_excess_no_ledger) + " (neither with one)");
  context.print_paragraph("  captured gain past the break-even: ",
                          percent(summary.mean_captured_gain) + " of the clairvoyant's, " +
                              percent(summary.mean_captured_gain_ledger) +
                              " of the clairvoyant's with the ledger, without ledgers " +
                              percent(summary.mean_captured_gain_no_ledger));
  context.print_paragraph("  worst against never tuning: ",
                          change_text(summary.worst_loss) + ", " + worst.kernel + " on " +
                              worst.device + ", " + report::mean_count_text(point.launches) +
                              " launches: " + verdict_name(point.verdict) + ": " + point.reason);
}

std::vector<RegretCurve> curves_of(const std::vector<Series>& series, std::size_t points) {
  std::vector<RegretCurve> curves;
  for (const Series& one : series) {
    if (one.seeds.empty()) continue;
    RegretCurve curve;
    curve.target = one.target->name;
    curve.kernel = one.target->history->kernel;
    curve.device = one.target->history->device;
    curve.shape = report::shape_text(one.target->history->shape);
    curve.has_model = one.seeds.back().has_model;
    curve.no_first_pick = one.seeds.back().no_first_pick;
    curve.seen = one.target->seen;
    curve.start = one.start;
    for (std::size_t p = 0; p < points; ++p) {
      std::vector<Application> applications;
      for (const PlayedSeed& seed : one.seeds) applications.push_back(seed.applications[p]);
      curve.points.push_back(point_of(applications));
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

void answer(const std::vector<RegretCurve>& curves, const RegretArguments& arguments, bool complete,
            CliContext& context) {
  json results = json::array();
  json summaries = json::array();
  for (const Start start : kStarts) {
    std::vector<RegretCurve> same;
    for (const RegretCurve& curve : curves) {
      if (curve.start == start) same.push_back(curve);
    }
    if (same.empty()) continue;
    const RegretSummary summary = summary_of(same);
    for (const RegretCurve& curve : same) {
      for (const RegretPoint& point : curve.points) results.push_back(result_of(curve, point));
      if (!context.json()) print_curve(curve, context);
    }
    summaries.push_back(json_of(summary, same));
    if (!context.json()) print_summary(summary, same, arguments, context);
  }
  if (!context.json()) return;
  context.print_json({{"results", results},
                      {"summary", summaries},
                      {"ledger", arguments.ledger == "on"},
                      {"learner", arguments.learner},
                      {"shuffled", arguments.shuffle},
                      {"complete", complete}});
}

void open_models(std::vector<Target>& targets, const RegretArguments& arguments,
                 const std::vector<History>& histories, const std::vector<const History*>& training,
                 const CliContext& context) {
  if (!arguments.model.empty()) {
    mark_seen(targets, arguments.model, histories, context);
    auto model = must(read_model(arguments.model));
    for (Target& target : targets) target.model = model;
  }
  if (!arguments.leave_one_out) return;
  for (Target& target : targets) target.training = without_device_of(*target.history, training);
  if (learns_for_each_seed(arguments)) return;
  return must(run_jobs(
                  "learn", targets.size(), context.json(),
                  [&](std::size_t i) {
                    if (targets[i].training.empty()) return Status();
                    auto model = learn_held_out(*targets[i].history, targets[i].training);
                    if (model.ok()) targets[i].model = *model;
                    return model.status();
                  },
                  OnInterrupt::give_up)
                  .status());
}

void warn_about(const std::vector<Target>& targets, const RegretArguments& arguments,
                const CliContext& context) {
  for (const Target& target : targets) {
    const bool knows = learns_for_each_seed(arguments)
                           ? !target.training.empty()
                           : known(target, target.model).model != nullptr;
    if (!knows && (arguments.leave_one_out || !arguments.model.empty())) {
      context.warn(target.name, "no model knows kernel " + target.history->kernel +
                                    " with these parameters: the search draws at random");
    }
    if (!target.recorded->device().has_compile_times()) {
      context.warn(target.name, "no compile times were recorded; compilations count as free");
    }
  }
}

Result<PlayedSeed> play_seed(const Target& target, Start start, std::uint64_t seed,
                             const RegretArguments& arguments) {
  std::shared_ptr<const Model> model = target.model;
  if (learns_for_each_seed(arguments) && !target.training.empty()) {
    auto learned = learn_for_seed(target, seed, arguments);
    if (!learned.ok()) return learned.status();
    model = *learned;
  }
  const KnownKernel kernel = known(target, model);
  regret::RegretOptions options = arguments.options;
  options.start = start;
  options.ledger = arguments.ledger == "on";
  options.learner = arguments.learner == "forest" ? forest_learner() : nullptr;
  auto applications = play_applications(*target.recorded, kernel.model, options, seed);
  if (!applications.ok()) return applications.status();
  return PlayedSeed{std::move(*applications), kernel.model != nullptr, kernel.no_first_pick};
}

void run_regret(const RegretArguments& arguments, CliContext& context) {
  const auto loaded =
      must(load_with_files(arguments.targets, arguments.emulated || !arguments.leave_one_out));
  const std::vector<History>& histories = loaded.histories;
  const auto more = must(load_histories(arguments.training, arguments.emulated));
  auto targets = open_targets<Target>(loaded, context);
  const auto training = pointers_to(arguments.training.empty() ? histories : more);
  open_models(targets, arguments, histories, training, context);
  warn_about(targets, arguments, context);

  std::vector<Series> series;
  for (const Start start : kStarts) {
    const std::string name = start_name(start);
    if (!contains(arguments.starts, name)) continue;
    for (const Target& target : targets) series.push_back({&target, start, {}});
  }
  const auto play = [&](const Series& one, std::size_t seed) {
    return play_seed(*one.target, one.start, arguments.seed + seed, arguments);
  };
  const bool complete =
      play_all("regret", series, &Series::seeds, arguments.seeds, context.json(), play);
  answer(curves_of(series, arguments.options.launches.size()), arguments, complete, context);
  if (complete) return;
  context.stopped("stopped early: the figures are of the seeds that were finished");
  context.end_now();
}

}  // namespace

void add_lab_regret_verb(Verb& lab, CliContext& context) {
  auto arguments = std::make_shared<RegretArguments>();
  Verb verb =
      lab.add_verb("regret", "compares the total time of applications under policies of tuning");
  verb.required("targets", arguments->targets,
                "Histories to play on (.ithistory, or what import reads)");
  const Argument model = verb.option("--model FILE", arguments->model, "Model to decide with");
  const Argument leave = add_leaving_out(verb, model, arguments->leave_one_out, arguments->training,
                                         arguments->emulated);
  verb.flag("--shuffle", arguments->shuffle,
            "Deal the training results anew among the configurations: a wrong model")
      .needs(leave);
  verb.option("--rows N", arguments->rows,
              "Learn from a sample of so many configurations of each history")
      .needs(leave)
      .between(1, 1000000)
      .shows_default("all");
  verb.option("--launches N,...", arguments->options.launches,
              "Launches of the application, separated by commas")
      .separated_by_commas()
      .between(1.0, 1e12)
      .checked([](const std::string& number) {
        const double launches = std::strtod(number.c_str(), nullptr);
        return launches == std::floor(launches) ? "" : "expected a whole number, not " + number;
      })
      .shows_default("1,3,10,...,10000000");
  verb.option("--seeds", arguments->seeds, "Applications per target and number of launches")
      .between(1, 100000);
  verb.option("--seed", arguments->seed, "The first of them");
  verb.option("--start", arguments->starts,
              "What runs at first: first_pick, random, median; separated by commas")
      .separated_by_commas()
      .one_of({"first_pick", "random", "median"});
  verb.option("--ledger", arguments->ledger, "Whether tuning keeps to the 2 % ledger")
      .one_of({"on", "off"});
  verb.option("--learner", arguments->learner,
              "What learns from the measurements of a run: forest, or none")
      .one_of({"forest", "none"});
  verb.example("lab regret histories --leave-one-out --launches 1000,100000");
  verb.runs([arguments, &context] {
    if (arguments->options.launches.empty()) {
      return context.used_wrongly("--launches names none");
    }
    run_regret(*arguments, context);
  });
}

}  // namespace idletune::cli

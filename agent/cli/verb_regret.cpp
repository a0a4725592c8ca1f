// idletune regret T...: total time of tuning policies on recorded devices.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <idletune/learning.hpp>

#include "agent/cli/histories.hpp"
#include "agent/cli/progress.hpp"
#include "agent/cli/report/numbers.hpp"
#include "agent/cli/run_jobs.hpp"
#include "agent/cli/seen_by_model.hpp"
#include "agent/cli/verbs.hpp"
#include "agent/lab/held_out_model.hpp"
#include "agent/lab/known_kernel.hpp"
#include "agent/lab/regret/regret_summary.hpp"
#include "agent/src/model_file.hpp"

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
  bool shuffle = false;
  std::string ledger = "on";
  std::string learner = "forest";
  std::size_t seeds = 10;
  std::uint64_t seed = 1;
  regret::RegretOptions options;
};

// A recorded device, and what may be learned from for it.
struct Target {
  const History* history = nullptr;
  std::string name;
  bool seen = false;  // the given model learned from this very history
  std::unique_ptr<RegretTarget> recorded;
  std::vector<const History*> training;  // of other devices; with --leave-one-out
  std::shared_ptr<const Model> model;    // of those, or the given one
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

// A model of the target's training histories with their results dealt anew.
Result<std::shared_ptr<const Model>> learn_shuffled(const Target& target, std::uint64_t seed) {
  std::vector<History> wrong;
  wrong.reserve(target.training.size());
  for (const History* history : target.training) {
    wrong.push_back(regret::shuffled_results(*history, seed * 1000 + wrong.size()));
  }
  std::vector<const History*> pointers;
  pointers.reserve(wrong.size());
  for (const History& history : wrong) pointers.push_back(&history);
  return learn_held_out(*target.history, pointers);
}

nlohmann::json json_or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::json(nullptr) : nlohmann::json(text);
}

// What the applications really began with.
std::string begins_with(const RegretCurve& curve) {
  if (curve.start == Start::median) return "the median configuration";
  if (curve.start == Start::random) return "a random configuration";
  return curve.no_first_pick.empty()
             ? "the model's first pick"
             : "a random configuration for want of a first pick (" + curve.no_first_pick + ")";
}

nlohmann::json result_of(const RegretCurve& curve, const RegretPoint& point) {
  nlohmann::json total = nlohmann::json::object();
  nlohmann::json spread = nlohmann::json::object();
  for (std::size_t i = 0; i < regret::kPolicyCount; ++i) {
    const auto policy = static_cast<Policy>(i);
    const regret::Spread& values = point.total_ms[policy];
    total[policy_name(policy)] = values.mean;
    spread[policy_name(policy)] = {
        {"min", values.min}, {"max", values.max}, {"deviation", values.deviation}};
  }
  return {{"target", curve.target},
          {"kernel", curve.kernel},
          {"device", curve.device},
          {"model", curve.has_model},
          {"learned_from", curve.seen},
          {"no_first_pick", text_or_null(curve.no_first_pick)},
          {"start", start_name(curve.start)},
          {"launches", point.launches},
          {"seeds", point.seeds},
          {"total_ms", total},
          {"spread_ms", spread},
          {"loss", point.loss},
          {"worst_seed_loss", point.worst_loss},
          {"excess", point.excess},
          {"excess_no_ledger", point.excess_no_ledger},
          {"excess_absolute", point.excess_absolute},
          {"captured_gain", json_or_null(point.captured_gain)},
          {"captured_gain_ledger", json_or_null(point.captured_gain_ledger)},
          {"captured_gain_no_ledger", json_or_null(point.captured_gain_no_ledger)},
          {"steps",
           {{"idletune", point.steps},
            {"idletune_no_ledger", point.steps_no_ledger},
            {"clairvoyant", point.clairvoyant_steps},
            {"clairvoyant_ledger", point.clairvoyant_ledger_steps}}},
          {"tuning_ms", point.tuning_ms},
          {"final_relative", point.final_relative},
          {"overdrawn_ms", point.overdrawn_ms},
          {"verdict", verdict_name(point.verdict)},
          {"reason", point.reason}};
}

nlohmann::json place_of(const RegretCurve& curve, const RegretPoint& point, double value) {
  return {{"value", value},
          {"target", curve.target},
          {"launches", point.launches},
          {"verdict", verdict_name(point.verdict)},
          {"reason", point.reason}};
}

nlohmann::json json_of(const RegretSummary& summary, const std::vector<RegretCurve>& curves) {
  const RegretCurve& worst = curves[summary.worst_curve];
  const RegretCurve& excess = curves[summary.worst_excess_curve];
  return {{"start", start_name(curves.front().start)},
          {"targets", summary.targets},
          {"points", summary.points},
          {"excess", summary.mean_excess},
          {"excess_no_ledger", summary.mean_excess_no_ledger},
          {"excess_absolute", summary.mean_excess_absolute},
          {"captured_gain", json_or_null(summary.mean_captured_gain)},
          {"captured_gain_ledger", json_or_null(summary.mean_captured_gain_ledger)},
          {"captured_gain_no_ledger", json_or_null(summary.mean_captured_gain_no_ledger)},
          {"worst_loss", place_of(worst, worst.points[summary.worst_point], summary.worst_loss)},
          {"worst_excess",
           place_of(excess, excess.points[summary.worst_excess_point], summary.worst_excess)}};
}

std::string format(const char* pattern, double value) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, pattern, value);
  return buffer;
}

std::string percent(double share) { return format("%+.1f %%", 100 * share); }

std::string percent(const std::optional<double>& share) {
  return share ? format("%.0f %%", 100 * *share) : "-";
}

// In seconds, as all times of the table; a dash for NaN.
std::string seconds(double ms) { return report::significant(ms / 1e3, 3); }

std::string count(double launches) { return format(launches < 1e6 ? "%.0f" : "%.3g", launches); }

void print_curve(const RegretCurve& curve, const CliContext& context) {
  context.print("\n" + curve.kernel + " on " + curve.device + (curve.seen ? " *" : "") +
                ", starting with " + begins_with(curve) + (curve.has_model ? "" : " (no model)") +
                "; total times in s\n");
  TextTable table({{"launches", Align::right},
                   {"never tune", Align::right},
                   {"first pick", Align::right},
                   {"always", Align::right},
                   {"KTT", Align::right},
                   {"idletune", Align::right},
                   {"+-", Align::right},
                   {"clairvoyant", Align::right},
                   {"limit", Align::right},
                   {"vs never", Align::right},
                   {"vs clairv.", Align::right},
                   {"captured", Align::right},
                   {"steps", Align::right},
                   {"best", Align::right},
                   {"verdict"}});
  for (const RegretPoint& point : curve.points) {
    const auto mean = [&](Policy policy) { return seconds(point.total_ms[policy].mean); };
    table.add_row({count(point.launches), mean(Policy::never), mean(Policy::first_pick),
                   mean(Policy::always), mean(Policy::ktt), mean(Policy::idletune),
                   seconds(point.total_ms[Policy::idletune].deviation), mean(Policy::clairvoyant),
                   mean(Policy::limit), percent(point.loss), percent(point.excess_absolute),
                   percent(point.captured_gain), format("%.1f", point.steps),
                   format("%.1f", point.clairvoyant_steps), verdict_name(point.verdict)});
  }
  context.print(table);
}

void print_summary(const RegretSummary& summary, const std::vector<RegretCurve>& curves,
                   const RegretArguments& arguments, const CliContext& context) {
  const RegretCurve& worst = curves[summary.worst_curve];
  const RegretPoint& point = worst.points[summary.worst_point];
  const std::string ledger = arguments.ledger == "on" ? "with the ledger" : "without a ledger";
  context.print("\nStart " + std::string(start_name(curves.front().start)) + ", " +
                std::to_string(summary.targets) + " targets, " + std::to_string(summary.points) +
                " points of " + std::to_string(point.seeds) + " seeds:\n" +
                "  above the clairvoyant on average: " + percent(summary.mean_excess) + " (" +
                ledger + " both), " + percent(summary.mean_excess_absolute) +
                " (clairvoyant without one), " + percent(summary.mean_excess_no_ledger) +
                " (neither with one)\n" +
                "  captured gain past the break-even: " + percent(summary.mean_captured_gain) +
                " of the clairvoyant's, " + percent(summary.mean_captured_gain_ledger) +
                " of the clairvoyant's with the ledger, without ledgers " +
                percent(summary.mean_captured_gain_no_ledger) + "\n" +
                "  worst against never tuning: " + percent(summary.worst_loss) + ", " +
                worst.kernel + " on " + worst.device + ", " + count(point.launches) +
                " launches: " + verdict_name(point.verdict) + ": " + point.reason + "\n");
}

std::vector<RegretCurve> curves_of(const std::vector<Series>& series, std::size_t points) {
  std::vector<RegretCurve> curves;
  for (const Series& one : series) {
    if (one.seeds.empty()) continue;
    RegretCurve curve;
    curve.target = one.target->name;
    curve.kernel = one.target->history->kernel;
    curve.device = one.target->history->device;
    curve.has_model = one.seeds.back().has_model;
    curve.no_first_pick = one.seeds.back().no_first_pick;
    curve.seen = one.target->seen;
    curve.has_compile_times = one.target->recorded->device().has_compile_times();
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
  nlohmann::json results = nlohmann::json::array();
  nlohmann::json summaries = nlohmann::json::array();
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

Status open_targets(const std::vector<History>& histories, const RegretArguments& arguments,
                    std::vector<Target>& targets) {
  for (std::size_t i = 0; i < histories.size(); ++i) {
    Result<RegretTarget> recorded = RegretTarget::of(histories[i]);
    if (!recorded.ok()) return recorded.status();
    Target target;
    target.history = &histories[i];
    target.name = arguments.targets[std::min(i, arguments.targets.size() - 1)];
    target.recorded = std::make_unique<RegretTarget>(std::move(*recorded));
    targets.push_back(std::move(target));
  }
  return Status();
}

Status open_models(std::vector<Target>& targets, const RegretArguments& arguments,
                   const std::vector<History>& histories,
                   const std::vector<const History*>& training, const CliContext& context) {
  if (!arguments.model.empty()) {
    const auto seen = seen_by_model(arguments.model, histories);
    if (!seen.ok()) return seen.status();
    for (std::size_t i = 0; i < targets.size(); ++i) targets[i].seen = (*seen)[i];
    if (const std::string warning = seen_warning(*seen); !warning.empty()) context.warn(warning);
    auto model = read_model(arguments.model);
    if (!model.ok()) return model.status();
    for (Target& target : targets) target.model = *model;
  }
  if (!arguments.leave_one_out) return Status();
  for (Target& target : targets) target.training = without_device_of(*target.history, training);
  if (arguments.shuffle) return Status();  // learned anew for every seed
  return run_jobs("learn", targets.size(), context.json(),
                  [&](std::size_t i) {
                    if (targets[i].training.empty()) return Status();
                    auto model = learn_held_out(*targets[i].history, targets[i].training);
                    if (model.ok()) targets[i].model = *model;
                    return model.status();
                  })
      .status();
}

void warn_about(const std::vector<Target>& targets, const RegretArguments& arguments,
                const CliContext& context) {
  for (const Target& target : targets) {
    const bool knows =
        arguments.shuffle ? !target.training.empty() : known(target, target.model).model != nullptr;
    if (!knows && (arguments.leave_one_out || !arguments.model.empty())) {
      context.warn(target.name + ": no model knows kernel " + target.history->kernel +
                   " with these parameters: the search draws at random");
    }
    if (!target.recorded->device().has_compile_times()) {
      context.warn(target.name + ": no compile times were recorded; compilations count as free");
    }
  }
}

Result<PlayedSeed> play_seed(const Target& target, Start start, std::uint64_t seed,
                             const RegretArguments& arguments) {
  std::shared_ptr<const Model> model = target.model;
  if (arguments.shuffle && !target.training.empty()) {
    auto shuffled = learn_shuffled(target, seed);
    if (!shuffled.ok()) return shuffled.status();
    model = *shuffled;
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

// Plays all seeds of all series. Those of different series alternate, so that an interrupted run
// has something of each; false: it was interrupted.
Result<bool> play(std::vector<Series>& series, const RegretArguments& arguments, bool quiet) {
  const std::size_t total = series.size() * arguments.seeds;
  std::vector<std::optional<PlayedSeed>> played(total);
  Result<bool> complete = run_jobs("regret", total, quiet, [&](std::size_t job) {
    const Series& one = series[job % series.size()];
    auto seed = play_seed(*one.target, one.start, arguments.seed + job / series.size(), arguments);
    if (seed.ok()) played[job] = std::move(*seed);
    return seed.status();
  });
  for (std::size_t job = 0; job < total; ++job) {
    if (played[job]) series[job % series.size()].seeds.push_back(std::move(*played[job]));
  }
  return complete;
}

void run_regret(const RegretArguments& arguments, CliContext& context) {
  const auto histories = load_histories(arguments.targets);
  if (!histories.ok()) return context.fail(histories.status());
  const auto more = load_histories(arguments.training);
  if (!more.ok()) return context.fail(more.status());
  std::vector<Target> targets;
  if (Status status = open_targets(*histories, arguments, targets); !status.ok()) {
    return context.fail(status);
  }
  std::vector<const History*> training;
  for (const History& history : arguments.training.empty() ? *histories : *more) {
    training.push_back(&history);
  }
  if (Status status = open_models(targets, arguments, *histories, training, context);
      !status.ok()) {
    return context.fail(status);
  }
  warn_about(targets, arguments, context);

  std::vector<Series> series;
  for (const Start start : kStarts) {
    const std::string name = start_name(start);
    if (std::find(arguments.starts.begin(), arguments.starts.end(), name) ==
        arguments.starts.end()) {
      continue;
    }
    for (const Target& target : targets) series.push_back({&target, start, {}});
  }
  const Result<bool> complete = play(series, arguments, context.json());
  if (!complete.ok()) return context.fail(complete.status());
  if (!*complete) context.warn("stopped early: the figures are of the seeds that were finished");
  answer(curves_of(series, arguments.options.launches.size()), arguments, *complete, context);
}

}  // namespace

void add_regret_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<RegretArguments>();
  Verb verb =
      line.add_verb("regret", "compares the total time of applications under policies of tuning");
  verb.option("targets", arguments->targets,
              "Histories to play on (.ithistory, or what import reads)")
      .required();
  const Argument model =
      verb.option("--model", arguments->model, "Model to decide with").value_name("FILE");
  const Argument leave = verb.flag(
      "--leave-one-out", arguments->leave_one_out,
      "For each target, learn a model from the other devices' histories instead of --model");
  leave.excludes(model);
  verb.option("--training", arguments->training, "Histories to learn from with --leave-one-out")
      .shows_default("the targets")
      .needs(leave);
  verb.flag("--shuffle", arguments->shuffle,
            "Deal the training results anew among the configurations: a wrong model")
      .needs(leave);
  verb.option("--launches", arguments->options.launches,
              "Launches of the application, separated by commas")
      .value_name("N,...")
      .separated_by_commas()
      .between(1.0, 1e12)
      .shows_default("1,3,10,...,10000000");
  verb.option("--seeds", arguments->seeds, "Applications per target and number of launches")
      .between(1, 100000)
      .shows_default();
  verb.option("--seed", arguments->seed, "The first of them").shows_default();
  verb.option("--start", arguments->starts,
              "What runs at first: first_pick, random, median; separated by commas")
      .value_name("NAME,...")
      .separated_by_commas()
      .one_of({"first_pick", "random", "median"})
      .shows_default();
  verb.option("--ledger", arguments->ledger, "Whether tuning keeps to the 2 % ledger")
      .one_of({"on", "off"})
      .shows_default();
  verb.option("--learner", arguments->learner,
              "What learns from the measurements of a run: forest, or none")
      .one_of({"forest", "none"})
      .shows_default();
  verb.example("regret histories --leave-one-out --launches 1000,100000");
  context.add_json_flag(verb);
  verb.runs([arguments, &context] {
    catch_interrupts();
    if (arguments->options.launches.empty()) {
      return context.used_wrongly("--launches names none");
    }
    for (auto* paths : {&arguments->targets, &arguments->training}) {
      if (Status status = expand_folders(*paths); !status.ok()) return context.fail(status);
    }
    run_regret(*arguments, context);
  });
}

}  // namespace idletune::cli

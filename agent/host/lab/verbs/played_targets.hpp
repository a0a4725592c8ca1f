// What `simulate` and `regret` share: recorded devices that something is played on, many times.
#pragma once

#include "agent/host/cli/context.hpp"
#include "agent/host/cli/histories.hpp"
#include "agent/host/lab/verbs/run_jobs.hpp"
#include "agent/host/lab/verbs/seen_by_model.hpp"
#include "models/predict/model.hpp"

namespace idletune::cli {

// A history on which `Recorded` plays.
template <class Recorded>
struct PlayedTarget {
  const History* history = nullptr;
  std::string name;
  std::size_t row = 0;  // among the histories that were loaded
  bool seen = false;    // the given model learned from this very history
  std::unique_ptr<Recorded> recorded;
  std::shared_ptr<const Model> model;  // the given one, or one of the other devices
};

// --leave-one-out instead of `model`, --training and --emulated. Returns the first.
inline Argument add_leaving_out(Verb verb, Argument model, bool& leave_one_out,
                                std::vector<std::string>& training, bool& emulated) {
  const Argument leave = verb.flag(
      "--leave-one-out", leave_one_out,
      "For each target, learn a model from the other devices' histories instead of --model");
  verb.option("--training", training, "Histories to learn from with --leave-one-out")
      .shows_default("the targets")
      .needs(leave);
  add_emulated(verb, emulated).needs(leave);
  return leave.excludes(model);
}

// What nothing can be played on is left out, which is said.
template <class Target>
std::vector<Target> open_targets(const LoadedHistories& loaded, const CliContext& context) {
  using Recorded = typename decltype(Target::recorded)::element_type;
  std::vector<Target> targets;
  const std::vector<std::string> names = target_names(loaded);
  for (std::size_t i = 0; i < loaded.histories.size(); ++i) {
    const History& history = loaded.histories[i];
    Result<Recorded> recorded = Recorded::of(history);
    if (!recorded.ok() && history.count(TrialStatus::correct) == 0) {
      context.warn(names[i], "nothing in it ran correctly: left out");
      continue;
    }
    Target target;
    target.history = &history;
    target.name = names[i];
    target.row = i;
    target.recorded = std::make_unique<Recorded>(must(std::move(recorded)));
    targets.push_back(std::move(target));
  }
  if (!targets.empty()) return targets;
  throw Failure(StatusCode::invalid_argument,
                "there is no history in which something ran correctly");
}

// With a model that was given: which targets it has learned from.
template <class Target>
void mark_seen(std::vector<Target>& targets, const std::string& model,
               const std::vector<History>& histories, const CliContext& context) {
  if (model.empty()) return;
  const auto seen = must(seen_by_model(model, histories));
  for (Target& target : targets) target.seen = seen[target.row];
  if (const std::string warning = seen_warning(seen); !warning.empty()) context.warn(warning);
}

// Plays all repeats of all series, repeat i of one being `play(series, i)`. Those of different
// series alternate, so that an interrupted run has something of each; false: it was interrupted.
template <class Series, class Played, class Play>
bool play_all(const char* task, std::vector<Series>& series, std::vector<Played> Series::*finished,
              std::size_t repeats, bool quiet, const Play& play) {
  const std::size_t total = series.size() * repeats;
  const auto played = std::make_shared<std::vector<std::optional<Played>>>(total);
  const auto done = must(run_jobs(
      task, total, quiet,
      [&, played](std::size_t job) {
        Result<Played> one = play(series[job % series.size()], job / series.size());
        if (one.ok()) (*played)[job] = std::move(*one);
        return one.status();
      },
      OnInterrupt::keep_finished));
  for (std::size_t job = 0; job < total; ++job) {
    if (done.finished[job])
      (series[job % series.size()].*finished).push_back(std::move(*(*played)[job]));
  }
  return done.all;
}

}  // namespace idletune::cli

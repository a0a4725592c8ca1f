// idletune simulate T...: plays searchers on recorded histories.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "agent/cli/curve_output.hpp"
#include "agent/cli/histories.hpp"
#include "agent/cli/progress.hpp"
#include "agent/cli/run_jobs.hpp"
#include "agent/cli/seen_by_model.hpp"
#include "agent/cli/standards_report.hpp"
#include "agent/cli/verbs.hpp"
#include "agent/lab/compared_searchers.hpp"
#include "agent/lab/held_out_model.hpp"
#include "agent/lab/known_kernel.hpp"
#include "agent/lab/simulation.hpp"
#include "agent/src/model_file.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

namespace {

struct SimulateArguments {
  std::vector<std::string> targets;
  std::string model;
  std::vector<std::string> searchers{"product", "random"};
  std::vector<std::string> training;
  bool leave_one_out = false;
  SimulationOptions options;
  std::size_t repeats = 20;
  std::uint64_t seed = 1;
  bool curves = false;
  std::string csv;
  bool standards = false;
  std::size_t iterations = StandardsOptions{}.iterations;
};

struct Target {
  const History* history = nullptr;
  std::string name;
  std::unique_ptr<Simulation> simulation;
  std::shared_ptr<const Model> model;
  KnownKernel kernel;
  bool seen = false;  // the model learned from this very history

  const KernelKnowledge* knowledge() const {
    return kernel.model ? kernel.model->knowledge : nullptr;
  }
};

// One target with one searcher, all its repeats.
struct Series {
  const Target* target = nullptr;
  std::string searcher;
  std::vector<SimulatedSearch> searches;  // finished ones
};

std::vector<std::string> names_of(const std::vector<std::string>& paths, std::size_t histories) {
  // One history per file as things are; more would share the file's name.
  std::vector<std::string> names = paths;
  names.resize(histories, paths.empty() ? "" : paths.back());
  return names;
}

// Plays all repeats of all series. Those of different series alternate, so that an interrupted run
// has something of each; false: it was interrupted.
Result<bool> play(std::vector<Series>& series, const SimulateArguments& arguments, bool quiet) {
  const std::size_t total = series.size() * arguments.repeats;
  std::vector<std::optional<SimulatedSearch>> played(total);
  Result<bool> complete = run_jobs("simulate", total, quiet, [&](std::size_t job) {
    const Series& one = series[job % series.size()];
    auto search =
        one.target->simulation->run(one.searcher, one.target->knowledge(),
                                    arguments.seed + job / series.size(), arguments.options);
    if (search.ok()) played[job] = std::move(*search);
    return search.status();
  });
  for (std::size_t job = 0; job < total; ++job) {
    if (played[job]) series[job % series.size()].searches.push_back(std::move(*played[job]));
  }
  return complete;
}

std::vector<double> evaluations_of(const Series& series) {
  std::vector<double> values;
  for (const SimulatedSearch& s : series.searches)
    values.push_back(static_cast<double>(s.evaluations));
  return values;
}

nlohmann::json result_of(const Series& series, bool curves) {
  std::vector<double> tuning_ms;
  std::vector<double> firsts;
  std::size_t reached = 0;
  for (const SimulatedSearch& search : series.searches) {
    tuning_ms.push_back(search.tuning_ms);
    firsts.push_back(search.first_relative);
    if (search.reached) ++reached;
  }
  const Summary evaluations = summarize(evaluations_of(series));
  const Summary time = summarize(tuning_ms);
  const Target& target = *series.target;
  nlohmann::json result{
      {"target", target.name},
      {"kernel", target.history->kernel},
      {"device", target.history->device},
      {"searcher", series.searcher},
      {"model", target.kernel.model != nullptr},
      {"learned_from", target.seen},
      {"no_first_pick", target.kernel.no_first_pick.empty()
                            ? nlohmann::json(nullptr)
                            : nlohmann::json(target.kernel.no_first_pick)},
      {"repeats", series.searches.size()},
      {"reached", static_cast<double>(reached) / static_cast<double>(series.searches.size())},
      {"evaluations",
       {{"median", evaluations.median}, {"p90", evaluations.p90}, {"max", evaluations.max}}},
      {"tuning_ms", {{"median", time.median}, {"p90", time.p90}}},
      {"first_pick", summarize(firsts).median}};
  if (curves) result["curves"] = curves_json(series.searches);
  return result;
}

Status write_curves(const std::vector<Series>& series, const std::string& path) {
  std::string csv = kCurvesCsvTitle;
  for (const Series& one : series) csv += curves_csv(one.target->name, one.searcher, one.searches);
  return write_file_atomically(
      path, Bytes(reinterpret_cast<const std::uint8_t*>(csv.data()), csv.size()));
}

void run_standards(const std::vector<Target>& targets, const SimulateArguments& arguments,
                   CliContext& context) {
  StandardsOptions options;
  options.until = arguments.options.until;
  options.repeats = arguments.repeats;
  options.seed = arguments.seed;
  options.threads = kJobThreads;
  options.iterations = arguments.iterations;
  std::vector<StandardsTarget> played;
  played.reserve(targets.size());
  for (const Target& target : targets) played.push_back({target.name, target.simulation.get()});
  report_standards(played, arguments.searchers, options, context);
}

// Over all targets and seeds, per searcher; every target weighs the same.
nlohmann::json summary_of(const std::vector<Series>& series,
                          const std::vector<std::string>& searchers) {
  nlohmann::json summaries = nlohmann::json::array();
  for (const std::string& searcher : searchers) {
    std::vector<double> all;
    std::vector<double> firsts;
    for (const Series& one : series) {
      if (one.searcher != searcher) continue;
      const std::vector<double> values = evaluations_of(one);
      all.insert(all.end(), values.begin(), values.end());
      for (const SimulatedSearch& search : one.searches) firsts.push_back(search.first_relative);
    }
    if (all.empty()) continue;
    const Summary evaluations = summarize(all);
    summaries.push_back(
        {{"searcher", searcher},
         {"searches", all.size()},
         {"evaluations",
          {{"median", evaluations.median}, {"p90", evaluations.p90}, {"max", evaluations.max}}},
         {"first_pick", summarize(firsts).median}});
  }
  return summaries;
}

std::string number(double value, int digits) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

void print_readable(const nlohmann::json& report, const CliContext& context) {
  TextTable table({{"kernel"},
                   {"device"},
                   {"searcher"},
                   {"reached", Align::right},
                   {"evaluations median", Align::right},
                   {"p90", Align::right},
                   {"max", Align::right},
                   {"tuning s median", Align::right},
                   {"first pick", Align::right}});
  for (const auto& r : report["results"]) {
    const auto& e = r["evaluations"];
    const std::string mark = r["learned_from"].get<bool>() ? " *" : "";
    table.add_row({r["kernel"], r["device"].get<std::string>() + mark, r["searcher"],
                   number(100 * r["reached"].get<double>(), 0) + " %", number(e["median"], 1),
                   number(e["p90"], 0), number(e["max"], 0),
                   number(r["tuning_ms"]["median"].get<double>() / 1000, 2),
                   number(100 * r["first_pick"].get<double>(), 1) + " %"});
  }
  for (const auto& s : report["summary"]) {
    const auto& e = s["evaluations"];
    table.add_row({"(all)", "", s["searcher"], "", number(e["median"], 1), number(e["p90"], 0),
                   number(e["max"], 0), "", number(100 * s["first_pick"].get<double>(), 1) + " %"});
  }
  context.print(table);
}

// With a model that was given: which targets it has learned from.
Status mark_seen(std::vector<Target>& targets, const SimulateArguments& arguments,
                 const std::vector<History>& histories, CliContext& context) {
  if (arguments.model.empty()) return {};
  const auto seen = seen_by_model(arguments.model, histories);
  if (!seen.ok()) return seen.status();
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i].seen = (*seen)[i];
  if (const std::string warning = seen_warning(*seen); !warning.empty()) context.warn(warning);
  return {};
}

Status prepare_models(std::vector<Target>& targets, const SimulateArguments& arguments,
                      const std::vector<const History*>& training, CliContext& context) {
  std::shared_ptr<const Model> given;
  if (!arguments.model.empty()) {
    auto model = read_model(arguments.model);
    if (!model.ok()) return model.status();
    given = *model;
  }
  Progress progress("learn", targets.size(), context.json() || !arguments.leave_one_out);
  std::size_t done = 0;
  for (Target& target : targets) {
    if (arguments.leave_one_out) {
      progress.update(done++, "without " + target.history->device);
      auto model = learn_held_out(*target.history, without_device_of(*target.history, training));
      if (model.ok()) target.model = *model;
    } else {
      target.model = given;
    }
    target.kernel = known_kernel(target.model, *target.history, target.simulation->space());
    if (!target.kernel.model && (given || arguments.leave_one_out)) {
      progress.clear();
      context.warn(target.name +
                   ": every searcher draws at random: " + target.kernel.no_first_pick);
    }
  }
  return Status();
}

Status open_targets(const std::vector<History>& histories, const SimulateArguments& arguments,
                    std::vector<Target>& targets) {
  const std::vector<std::string> names = names_of(arguments.targets, histories.size());
  for (std::size_t i = 0; i < histories.size(); ++i) {
    auto simulation = Simulation::of(histories[i]);
    if (!simulation.ok()) return simulation.status();
    Target target;
    target.history = &histories[i];
    target.name = names[i];
    target.simulation = std::make_unique<Simulation>(std::move(*simulation));
    targets.push_back(std::move(target));
  }
  return Status();
}

void run_simulate(const SimulateArguments& arguments, CliContext& context) {
  const auto histories = load_histories(arguments.targets);
  if (!histories.ok()) return context.fail(histories.status());
  const auto more = load_histories(arguments.training);
  if (!more.ok()) return context.fail(more.status());
  std::vector<Target> targets;
  if (Status status = open_targets(*histories, arguments, targets); !status.ok()) {
    return context.fail(status);
  }
  if (arguments.standards) return run_standards(targets, arguments, context);
  std::vector<const History*> training;
  for (const History& history : arguments.training.empty() ? *histories : *more)
    training.push_back(&history);
  if (Status status = prepare_models(targets, arguments, training, context); !status.ok()) {
    return context.fail(status);
  }
  if (Status status = mark_seen(targets, arguments, *histories, context); !status.ok()) {
    return context.fail(status);
  }
  std::vector<Series> series;
  for (const Target& target : targets) {
    for (const std::string& searcher : arguments.searchers)
      series.push_back({&target, searcher, {}});
  }
  const Result<bool> complete = play(series, arguments, context.json());
  if (!complete.ok()) return context.fail(complete.status());
  series.erase(std::remove_if(series.begin(), series.end(),
                              [](const Series& s) { return s.searches.empty(); }),
               series.end());
  if (!*complete) context.warn("stopped early: the figures are of the searches that were finished");
  nlohmann::json results = nlohmann::json::array();
  for (const Series& one : series) results.push_back(result_of(one, arguments.curves));
  const nlohmann::json report = {{"results", results},
                                 {"summary", summary_of(series, arguments.searchers)},
                                 {"until", arguments.options.until},
                                 {"complete", *complete}};
  if (!arguments.csv.empty()) {
    if (const Status written = write_curves(series, arguments.csv); !written.ok())
      return context.fail(written);
  }
  if (context.json()) return context.print_json(report);
  print_readable(report, context);
}

// Where models come from, and what is written.
void add_source_options(Verb verb, SimulateArguments& arguments, Argument model) {
  const Argument leave = verb.flag(
      "--leave-one-out", arguments.leave_one_out,
      "For each target, learn a model from the other devices' histories instead of --model");
  verb.option("--training", arguments.training, "Histories to learn from with --leave-one-out")
      .shows_default("the targets")
      .needs(leave);
  leave.excludes(model);
  verb.flag("--curves", arguments.curves,
            "In the JSON, performance over evaluations and over tuning time");
  verb.option("--csv", arguments.csv, "Write these curves there as comma-separated values")
      .value_name("FILE");
  const Argument standards =
      verb.flag("--standards", arguments.standards,
                "Samples until the median and the 5th percentile are good, beside random "
                "search's (Cui & Feng 2019); without a model")
          .excludes(model)
          .excludes(leave);
  verb.option("--iterations", arguments.iterations,
              "With --standards: picks of IterML that share the samples")
      .between(1, 100)
      .shows_default()
      .needs(standards);
}

}  // namespace

void add_simulate_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<SimulateArguments>();
  Verb verb = line.add_verb("simulate", "plays searchers on recorded histories");
  verb.option("targets", arguments->targets,
              "Histories to search (.ithistory, or what import reads)")
      .required();
  const Argument model =
      verb.option("--model", arguments->model, "Model for the searchers that use one")
          .value_name("FILE");
  verb.option("--searcher", arguments->searchers,
              "random, product, portfolio, forest, annealing, genetic, "
              "iterml with, after colons, LEARNER, pick=RATIO, cut=RATIO, iterations=N, "
              "samples=own|all, dropped=last|never; "
              "separated by commas")
      .value_name("NAME,...")
      .separated_by_commas()
      .checked(wrong_with_searcher)
      .shows_default();
  verb.option("--until", arguments->options.until, "Relative performance that ends a search")
      .between(0.0, 1.0)
      .shows_default();
  verb.option("--repeat", arguments->repeats,
              "Searches per target and searcher, each with its own seed")
      .between(1, 1000000)
      .shows_default();
  verb.option("--seed", arguments->seed, "Seed of the first repeat").shows_default();
  verb.option("--max-evaluations", arguments->options.max_evaluations,
              "Give a search up after so many; 0: when the space is exhausted")
      .shows_default();
  add_source_options(verb, *arguments, model);
  verb.example("simulate histories --leave-one-out --repeat 50");
  context.add_json_flag(verb);
  verb.runs([arguments, &context] {
    catch_interrupts();
    if (arguments->searchers.empty()) return context.used_wrongly("--searcher names none");
    if (Status status = expand_folders(arguments->targets); !status.ok()) {
      return context.fail(status);
    }
    run_simulate(*arguments, context);
  });
}

}  // namespace idletune::cli

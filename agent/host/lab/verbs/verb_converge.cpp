// idletune lab converge H --check H2...: searches the full and the pruned space of every device.

#include "agent/host/cli/progress.hpp"
#include "agent/host/cli/pruned_space.hpp"
#include "agent/host/lab/convergence.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::cli {

namespace {

struct ConvergeArguments {
  PruneArguments pruning;
  std::vector<std::string> searchers{"random", "annealing"};
  double until = kWellPerforming;  // relative performance that counts as found
  std::size_t repeats = 1000;      // with the seeds seed, seed + 1, ...
  std::uint64_t seed = 1;
};

json to_json(const Convergence& convergence) {
  const json curve = list_of(convergence.curve, [](const Convergence::Point& point) {
    return json::array({point.step, point.mean_best_ns / 1e6});
  });
  return {{"steps", or_null(convergence.steps_of_mean)},
          {"median", or_null(convergence.median_steps)},
          {"reached", convergence.reached},
          {"curve_ms", curve}};
}

// Fewer steps on the pruned space, by the mean over the searches; never is more than any number.
bool improves(const Convergence& pruned, const Convergence& full) {
  if (!pruned.steps_of_mean) return false;
  return !full.steps_of_mean || *pruned.steps_of_mean < *full.steps_of_mean;
}

// Each searcher on both spaces of a device; appends to `results`.
void converge_on(const History& history, const Pruning& pruning, const ConvergeArguments& arguments,
                 json& results) {
  const auto left = must(pruned_history(pruning, history));
  const auto full = must(Simulation::of(history));
  const Result<Simulation> pruned = Simulation::of(left);
  ConvergenceOptions options;
  options.until = arguments.until;
  options.repeats = arguments.repeats;
  options.seed = arguments.seed;
  options.full = &history;
  for (const std::string& searcher : arguments.searchers) {
    const auto on_full = must(converge(full, searcher, options));
    const auto on_pruned =  // where nothing in it runs: never
        pruned.ok() ? must(converge(*pruned, searcher, options)) : Convergence();
    results.push_back({{"device", history.device},
                       {"searcher", searcher},
                       {"full", to_json(on_full)},
                       {"pruned", to_json(on_pruned)},
                       {"improved", improves(on_pruned, on_full)}});
  }
}

std::string or_never(const json& steps) {
  return steps.is_null() ? "never" : report::mean_count_text(steps.get<double>());
}

// What was found on the devices so far.
void answer(json result, bool complete, CliContext& context) {
  result["complete"] = complete;
  if (context.json()) return context.print_json(result);
  print_pruning(result, context);
  TextTable table({"device", "searcher", ">steps, full space", ">pruned", ">median, full space",
                   ">pruned", "faster"});
  for (const auto& c : result["convergence"]) {
    table.add_row({c["device"], c["searcher"], or_never(c["full"]["steps"]),
                   or_never(c["pruned"]["steps"]), or_never(c["full"]["median"]),
                   or_never(c["pruned"]["median"]), c["improved"] ? "yes" : "no"});
  }
  context.print(table);
}

void run_converge(const ConvergeArguments& arguments, CliContext& context) {
  const PrunedSpace space = read_and_prune(arguments.pruning);
  json result = pruning_object(space.pruning, arguments.pruning.method);
  result["convergence"] = json::array();
  Progress progress("converge", space.histories.size(), context.json());
  for (std::size_t i = 0; i < space.histories.size(); ++i) {
    progress.update(i, space.histories[i].device);
    context.keep_part([result, &context] { answer(result, false, context); });
    converge_on(space.histories[i], space.pruning, arguments, result["convergence"]);
  }
  answer(result, true, context);
}

}  // namespace

void add_lab_converge_verb(Verb& lab, CliContext& context) {
  auto arguments = std::make_shared<ConvergeArguments>();
  Verb verb = lab.add_verb("converge", "searches the full and the pruned space of every device");
  add_pruning_options(verb, arguments->pruning);
  verb.option("--searcher NAME,...", arguments->searchers, "random, annealing")
      .separated_by_commas()
      .one_of({"random", "annealing"});
  verb.option("--until", arguments->until, "Relative performance to converge to").between(0.0, 1.0);
  verb.option("--repeat", arguments->repeats, "Searches of each kind, each with its own seed")
      .between(1, 1000000);
  verb.option("--seed", arguments->seed, "Seed of the first search");
  verb.example("lab converge one.ithistory --check two.ithistory three.ithistory");
  verb.runs([arguments, &context] {
    if (arguments->searchers.empty()) return context.used_wrongly("--searcher names none");
    run_converge(*arguments, context);
  });
}

}  // namespace idletune::cli

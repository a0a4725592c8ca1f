// idletune prune H --check H2...: leaves out parameters that matter little, and says what that
// keeps elsewhere.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "agent/cli/histories.hpp"
#include "agent/cli/lab.hpp"
#include "agent/cli/progress.hpp"
#include "agent/cli/prune_convergence.hpp"
#include "agent/cli/verbs.hpp"
#include "models/insight/pruning.hpp"

namespace idletune::cli {

namespace {

struct PruneArguments {
  std::string history;
  std::string method = "conservative";
  std::vector<std::string> checked;
  PruningOptions options;
  ConvergedSearches searches;
};

std::string number(double value, int digits) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

std::string or_never(const nlohmann::json& steps) {
  return steps.is_null() ? "never" : steps.dump();
}

void print_readable(const nlohmann::json& r, const CliContext& context) {
  context.print(r["kernel"].get<std::string>() + " on " + r["device"].get<std::string>() + ", " +
                r["method"].get<std::string>() + " pruning: " + r["configurations"].dump() +
                " configurations become " + r["remaining"].dump() + " (" +
                number(r["reduction"], 2) + " times fewer), " + std::to_string(r["pruned"].size()) +
                " of " + std::to_string(r["pruned"].size() + r["kept"].size()) +
                " parameters pinned");
  TextTable parameters({{"parameter"}, {"pinned to"}, {"bits", Align::right}});
  for (const auto& p : r["pruned"]) {
    parameters.add_row(
        {p["name"],
         p["value"].get<std::string>() + (p["at_median"] ? "" : " (nearest to the median)"),
         number(p["information"], 4)});
  }
  for (const auto& name : r["kept"]) parameters.add_row({name, "(kept)"});
  context.print(parameters);
  TextTable retention(
      {{"device"}, {"configurations", Align::right}, {"performance kept", Align::right}});
  for (const auto& one : r["retention"]) {
    retention.add_row({one["device"],
                       one["remaining"].dump() + " of " + one["configurations"].dump(),
                       number(100 * one["value"].get<double>(), 1) + " %"});
  }
  context.print(retention);
  if (r["convergence"].empty()) return;
  TextTable convergence({{"device"},
                         {"searcher"},
                         {"steps, full space", Align::right},
                         {"pruned", Align::right},
                         {"median, full space", Align::right},
                         {"pruned", Align::right},
                         {"faster"}});
  for (const auto& c : r["convergence"]) {
    convergence.add_row({c["device"], c["searcher"], or_never(c["full"]["steps"]),
                         or_never(c["pruned"]["steps"]), or_never(c["full"]["median"]),
                         or_never(c["pruned"]["median"]), c["improved"] ? "yes" : "no"});
  }
  context.print(convergence);
}

// The one history in the file.
Result<History> load_one(const std::string& path) {
  auto histories = load_histories(path);
  if (!histories.ok()) return histories.status();
  if (histories->size() != 1) {
    return Status(
        StatusCode::invalid_argument,
        path + ": expected one history to prune with, found " + std::to_string(histories->size()));
  }
  return std::move(histories->front());
}

void run_prune(const PruneArguments& arguments, CliContext& context) {
  if (!arguments.searches.searchers.empty() && !built_with_lab()) return context.fail(needs_lab());
  const Result<History> history = load_one(arguments.history);
  if (!history.ok()) return context.fail(history.status());
  const auto others = load_histories(arguments.checked);
  if (!others.ok()) return context.fail(others.status());
  const auto pruning = prune(
      *history, pruning_method_from_name(arguments.method).value_or(PruningMethod::conservative),
      arguments.options);
  if (!pruning.ok()) return context.fail(pruning.status());
  nlohmann::json pruned = nlohmann::json::array();
  for (const PrunedParameter& p : pruning->pruned) {
    pruned.push_back({{"name", p.name},
                      {"value", p.value},
                      {"information", p.information},
                      {"at_median", p.at_median}});
  }
  std::vector<const History*> devices{&*history};
  for (const History& other : *others) devices.push_back(&other);
  nlohmann::json retention = nlohmann::json::array();
  nlohmann::json convergence = nlohmann::json::array();
  Progress progress("prune", devices.size(),
                    context.json() || arguments.searches.searchers.empty());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    progress.update(i, devices[i]->device);
    const auto kept = retention_on(*pruning, *devices[i]);
    if (!kept.ok()) return context.fail(kept.status());
    retention.push_back({{"device", kept->device},
                         {"value", kept->value},
                         {"configurations", kept->configurations},
                         {"remaining", kept->remaining}});
    if (arguments.searches.searchers.empty()) continue;
    const Status status = converge_on(*devices[i], *pruning, arguments.searches, convergence);
    if (!status.ok()) return context.fail(status);
  }
  progress.clear();
  const nlohmann::json result = {{"kernel", pruning->kernel},
                                 {"device", pruning->device},
                                 {"method", arguments.method},
                                 {"kept", pruning->kept},
                                 {"pruned", pruned},
                                 {"constant", pruning->constant},
                                 {"configurations", pruning->configurations},
                                 {"remaining", pruning->remaining},
                                 {"reduction", pruning->reduction()},
                                 {"retention", retention},
                                 {"convergence", convergence}};
  if (context.json()) return context.print_json(result);
  print_readable(result, context);
}

}  // namespace

void add_prune_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<PruneArguments>();
  Verb verb = line.add_verb(
      "prune", "pins parameters that matter little, and tells what the smaller space keeps");
  verb.option("history", arguments->history,
              "History that decides (.ithistory, or what import reads)")
      .required();
  verb.option("--method", arguments->method, "naive, aggressive or conservative")
      .one_of({"naive", "aggressive", "conservative"})
      .shows_default();
  verb.option("--check", arguments->checked,
              "Histories of other devices to try the pruned space on");
  verb.option("--information", arguments->options.information_share,
              "Share of the highest mutual information below which a parameter matters little")
      .between(0.0, 1.0)
      .shows_default();
  verb.option("--retention", arguments->options.retention,
              "Share of the best performance that must be kept on the deciding device")
      .between(0.0, 1.0)
      .shows_default();
  const Argument converge =
      verb.option(
              "--converge", arguments->searches.searchers,
              of_lab(
                  "Also search the full and the pruned space of every device: random, annealing"))
          .separated_by_commas()
          .one_of({"random", "annealing"});
  verb.option("--until", arguments->searches.until, "Relative performance to converge to")
      .between(0.0, 1.0)
      .needs(converge)
      .shows_default();
  verb.option("--repeat", arguments->searches.repeats,
              "Searches of each kind, each with its own seed")
      .between(1, 1000000)
      .needs(converge)
      .shows_default();
  verb.option("--seed", arguments->searches.seed, "Seed of the first search")
      .needs(converge)
      .shows_default();
  verb.example("prune one.ithistory --check two.ithistory three.ithistory");
  context.add_json_flag(verb);
  verb.runs([arguments, &context] { run_prune(*arguments, context); });
}

}  // namespace idletune::cli

// idletune prune H --check H2...: leaves out parameters that matter little, and says what that
// keeps elsewhere.

#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/lab.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::cli {

namespace {

struct PruneArguments {
  std::string history;
  std::string method = "conservative";
  std::vector<std::string> checked;
  PruningOptions options;
  ConvergedSearches searches;
};

std::string or_never(const json& steps) {
  return steps.is_null() ? "never" : report::mean_count_text(steps.get<double>());
}

std::string count(const json& number) { return report::count_text(number.get<std::uint64_t>()); }

void print_readable(const json& r, const CliContext& context) {
  context.print_paragraph(
      r["kernel"].get<std::string>() + " on " + r["device"].get<std::string>() + ", " +
      r["method"].get<std::string>() + " pruning: " + count(r["configurations"]) +
      " configurations become " + count(r["remaining"]) + " (" +
      report::significant(r["reduction"]) + " times fewer), " + std::to_string(r["pruned"].size()) +
      " of " + std::to_string(r["pruned"].size() + r["kept"].size()) + " parameters pinned");
  TextTable parameters({"parameter", "pinned to", ">bits"});
  for (const auto& p : r["pruned"]) {
    parameters.add_row(
        {p["name"],
         p["value"].get<std::string>() + (p["at_median"] ? "" : " (nearest to the median)"),
         report::significant(p["information"])});
  }
  for (const auto& name : r["kept"]) parameters.add_row({name, "(kept)"});
  context.print(parameters);
  TextTable retention({"device", ">configurations", ">performance kept"});
  for (const auto& one : r["retention"]) {
    retention.add_row({one["device"],
                       count(one["remaining"]) + " of " + count(one["configurations"]),
                       report::percent_text(one["value"])});
  }
  context.print(retention);
  if (r["convergence"].empty()) return;
  TextTable convergence({"device", "searcher", ">steps, full space", ">pruned",
                         ">median, full space", ">pruned", "faster"});
  for (const auto& c : r["convergence"]) {
    convergence.add_row({c["device"], c["searcher"], or_never(c["full"]["steps"]),
                         or_never(c["pruned"]["steps"]), or_never(c["full"]["median"]),
                         or_never(c["pruned"]["median"]), c["improved"] ? "yes" : "no"});
  }
  context.print(convergence);
}

// What was found on the devices so far.
void answer(json result, bool complete, CliContext& context) {
  result["complete"] = complete;
  if (context.json()) return context.print_json(result);
  print_readable(result, context);
}

// The one history in the file.
Result<History> load_one(const std::string& path) {
  auto histories = must(load_histories(path));
  if (histories.size() != 1) {
    return Status(
        StatusCode::invalid_argument,
        path + ": expected one history to prune with, found " + std::to_string(histories.size()));
  }
  return std::move(histories.front());
}

void run_prune(const PruneArguments& arguments, CliContext& context) {
  if (!arguments.searches.searchers.empty() && !built_with_lab()) return context.fail(needs_lab());
  const auto history = must(load_one(arguments.history));
  const auto others = must(load_histories(arguments.checked));
  const auto pruning = must(prune(
      history, pruning_method_from_name(arguments.method).value_or(PruningMethod::conservative),
      arguments.options));
  const json pruned = list_of(pruning.pruned, [](const PrunedParameter& p) {
    return IDLETUNE_FIELDS(p, name, value, information, at_median);
  });
  std::vector<const History*> devices = pointers_to(others);
  devices.insert(devices.begin(), &history);
  json result =
      joined(IDLETUNE_FIELDS(pruning, kernel, device, kept, constant, configurations, remaining),
             {{"method", arguments.method},
              {"pruned", pruned},
              {"reduction", pruning.reduction()},
              {"retention", json::array()},
              {"convergence", json::array()}});
  Progress progress("prune", devices.size(),
                    context.json() || arguments.searches.searchers.empty());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    progress.update(i, devices[i]->device);
    const auto kept = must(retention_on(pruning, *devices[i]));
    result["retention"].push_back(IDLETUNE_FIELDS(kept, device, value, configurations, remaining));
    context.keep_part([result, &context] { answer(result, false, context); });
    if (arguments.searches.searchers.empty()) continue;
    converge_on(*devices[i], pruning, arguments.searches, result["convergence"]);
  }
  answer(result, true, context);
}

}  // namespace

void add_prune_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<PruneArguments>();
  Verb verb = line.add_verb(
      "prune", "pins parameters that matter little, and tells what the smaller space keeps");
  verb.required("history", arguments->history,
                "History that decides (.ithistory, or what import reads)");
  verb.option("--method", arguments->method, "naive, aggressive or conservative")
      .one_of({"naive", "aggressive", "conservative"});
  verb.option("--check", arguments->checked,
              "Histories of other devices to try the pruned space on");
  verb.option("--information", arguments->options.information_share,
              "Share of the highest mutual information below which a parameter matters little")
      .between(0.0, 1.0)
      .acts("with --method naive or conservative",
            [arguments] { return arguments->method != "aggressive"; });
  verb.option("--retention", arguments->options.retention,
              "Share of the best performance that must be kept on the deciding device")
      .between(0.0, 1.0)
      .acts("with --method aggressive or conservative",
            [arguments] { return arguments->method != "naive"; });
  const Argument converge =
      verb.option(
              "--converge", arguments->searches.searchers,
              of_lab(
                  "Also search the full and the pruned space of every device: random, annealing"))
          .separated_by_commas()
          .one_of({"random", "annealing"});
  verb.option("--until", arguments->searches.until, "Relative performance to converge to")
      .between(0.0, 1.0)
      .needs(converge);
  verb.option("--repeat", arguments->searches.repeats,
              "Searches of each kind, each with its own seed")
      .between(1, 1000000)
      .needs(converge);
  verb.option("--seed", arguments->searches.seed, "Seed of the first search").needs(converge);
  verb.example("prune one.ithistory --check two.ithistory three.ithistory");
  verb.runs([arguments, &context] { run_prune(*arguments, context); });
}

}  // namespace idletune::cli

// idletune prune H --check H2...: leaves out parameters that matter little, and says what that
// keeps elsewhere.

#include "agent/host/cli/pruned_space.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::cli {

namespace {

void print_retention(const json& retention, const CliContext& context) {
  const auto count = [](const json& number) {
    return report::count_text(number.get<std::uint64_t>());
  };
  TextTable table({"device", ">configurations", ">performance kept"});
  for (const auto& one : retention) {
    table.add_row({one["device"], count(one["remaining"]) + " of " + count(one["configurations"]),
                   report::percent_text(one["value"])});
  }
  context.print(table);
}

void run_prune(const PruneArguments& arguments, CliContext& context) {
  const PrunedSpace space = read_and_prune(arguments);
  json result = pruning_object(space.pruning, arguments.method);
  result["complete"] = false;
  const auto say = [&context](const json& found) {
    if (context.json()) return context.print_json(found);
    print_pruning(found, context);
    print_retention(found["retention"], context);
  };
  for (const History& history : space.histories) {
    const auto kept = must(retention_on(space.pruning, history));
    result["retention"].push_back(IDLETUNE_FIELDS(kept, device, value, configurations, remaining));
    context.keep_part([say, result] { say(result); });
  }
  result["complete"] = true;
  say(result);
}

}  // namespace

void add_prune_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<PruneArguments>();
  Verb verb =
      line.add_verb("prune", "pins parameters that matter little, and tells what that keeps");
  add_pruning_options(verb, *arguments);
  verb.example("prune one.ithistory --check two.ithistory three.ithistory");
  verb.runs([arguments, &context] { run_prune(*arguments, context); });
}

}  // namespace idletune::cli
